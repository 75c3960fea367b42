import { formatByteSize } from '../../core/byte-size.ts'
import { messageOf } from '../../core/errors.ts'
import type { ServiceCommand, StandaloneCommand, Terminal, Transfer } from '../command.ts'
import { printFinding, showProgress } from '../progress.ts'
import { Bytes, type Row } from '../render.ts'

export const BACKUP: ServiceCommand = {
  usage: 'backup <file>',
  summary: 'copy the embedded database to a new file or s3://bucket/key while the service runs',
  run: async (services, call) => {
    const { operands, copies, interruption } = call
    const { file = '' } = operands
    if (!file.startsWith('s3://')) return resultOf({ file }, await services.backup(file))
    using transfer = showTransfer(call)
    const { onProgress } = transfer
    const copyTo = (path: string): Promise<unknown> => services.backup(path)
    const options = { target: file, copyTo, onProgress, signal: interruption() }
    return resultOf({ file }, await copies.send(options))
  },
}

export const RESTORE: StandaloneCommand = {
  usage: 'restore <s3://bucket/key>',
  summary: 'restore the embedded database from a copy; an existing database is never replaced',
  runAlone: async (call) => {
    const { operands, copies, interruption, printError } = call
    const { 's3://bucket/key': source = '' } = operands
    using transfer = showTransfer(call)
    const { onProgress } = transfer
    const restored = await copies.restore({ source, onProgress, signal: interruption() })
    printError(NEXT_STEP)
    return resultOf({ source, database: restored.database }, restored)
  },
}

export const COPY_PACK: StandaloneCommand = {
  usage: 'pack copy <from> <to>',
  summary: 'copy the small objects that one pack file has and another lacks; services can use both',
  runAlone: async (call) => {
    const { operands, copies, interruption, fail } = call
    const { from = '', to = '' } = operands
    const { objects, bytes } = await copies.pack({
      from,
      to,
      onProgress: showProgress(call, (copied) => `${copied.objects} objects copied`),
      onUnreadable: ({ objectKey, reason }) => {
        fail()
        const kind = 'unreadable_object'
        printFinding(call, { kind, object_key: objectKey, reason: messageOf(reason) })
      },
      signal: interruption(),
    })
    return { from, to, objects, bytes: new Bytes(bytes) }
  },
}

/** Otherwise, when an upload that was finished after the copy was made expires, its object is removed. */
const NEXT_STEP = 'Run "cloud-repo uploads release --finished" before you start the service.'

function resultOf(places: Row, { bytes }: { readonly bytes: number }): Row {
  return { ...places, bytes: new Bytes(bytes) }
}

const BAR_WIDTH = 30

/** Draws a bar on a terminal; elsewhere prints every 10 s. Disposal clears the bar. */
export function showTransfer(terminal: Terminal) {
  const { drawLine } = terminal
  const describe = ({ moved, total }: Transfer): string =>
    `${formatByteSize(moved)} of ${formatByteSize(total)}`
  const say = showProgress(terminal, describe)
  const onProgress = (transfer: Transfer): void => {
    if (drawLine === undefined) return say(transfer)
    const share = Math.min(1, transfer.moved / Math.max(1, transfer.total))
    const filled = Math.round(share * BAR_WIDTH)
    const bar = '#'.repeat(filled).padEnd(BAR_WIDTH, '.')
    drawLine(`[${bar}] ${Math.floor(share * 100)} %  ${describe(transfer)}`)
  }
  return { onProgress, [Symbol.dispose]: () => drawLine?.('') }
}
