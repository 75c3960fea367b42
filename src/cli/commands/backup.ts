import type { Command, StandaloneCommand } from '../command.ts'
import { showTransfer } from '../progress.ts'

export const BACKUP: Command = {
  words: ['backup'],
  operands: ['<file>'],
  flags: [],
  summary:
    'copy the embedded database to a new file, or to s3://bucket/key, while the service runs',
  run: async (services, call) => {
    const { operands, copies, interruption } = call
    const [file = ''] = operands
    if (!file.startsWith('s3://')) return { file, ...(await services.backup(file)) }
    using transfer = showTransfer(call)
    const { onProgress } = transfer
    const copyTo = (path: string): Promise<unknown> => services.backup(path)
    const options = { target: file, copyTo, onProgress, signal: interruption() }
    return { file, ...(await copies.send(options)) }
  },
}

export const RESTORE: StandaloneCommand = {
  words: ['restore'],
  operands: ['<s3://bucket/key>'],
  flags: [],
  summary: 'put a copy of the embedded database in its place, which has to be free',
  runAlone: async (call) => {
    const { operands, copies, interruption } = call
    const [source = ''] = operands
    using transfer = showTransfer(call)
    const { onProgress } = transfer
    return { source, ...(await copies.restore({ source, onProgress, signal: interruption() })) }
  },
}
