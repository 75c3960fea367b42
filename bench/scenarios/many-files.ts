import type { DatabaseConfig } from '../../src/config/parsers.ts'
import { randomBytes } from 'node:crypto'
import { serviceDownloads } from '../sides/downloads.ts'
import { plantFiles } from '../setup/planted-files.ts'
import type { Scenario, Setting } from '../scenario.ts'
import { openStack, type Stack } from '../setup/stack.ts'
import { serviceUploads } from '../sides/uploads.ts'

const MANY = 1_000_000
const FEW = 100

const STACKS = ['sqlite-minio', 'postgres-minio'] as const

/** An account with many files against one with few, in one database. */
export const manyFiles: readonly Scenario[] = [
  {
    name: 'many-files-upload',
    title: '4 KiB raw uploads to an account of 1,000,000 files; against one of 100',
    stacks: STACKS,
    async open(setting) {
      const stack = await prepare(setting)
      const { seconds } = setting
      const uploads = { stack, content: randomBytes(4096), seconds, kind: 'raw' } as const
      const [many, few] = sidesOf(stack)
      return {
        subject: serviceUploads({ ...uploads, name: many.name, cookies: [many.cookie] }),
        baseline: serviceUploads({ ...uploads, name: few.name, cookies: [few.cookie] }),
      }
    },
  },
  {
    name: 'many-files-download',
    title: '4 KiB downloads from an account of 1,000,000 files; against one of 100',
    stacks: STACKS,
    async open(setting) {
      const stack = await prepare(setting)
      const downloads = { stack, content: randomBytes(4096), seconds: setting.seconds }
      const [many, few] = sidesOf(stack)
      return {
        subject: await serviceDownloads({ ...downloads, ...many }),
        baseline: await serviceDownloads({ ...downloads, ...few }),
      }
    },
  },
]

interface Account {
  readonly name: string
  readonly cookie: string
}

function sidesOf({ cookies: [many = '', few = ''] }: Stack): readonly [Account, Account] {
  return [
    { name: '1,000,000 files', cookie: many },
    { name: '100 files', cookie: few },
  ]
}

async function prepare({ stack: name, servers, profile, opened }: Setting): Promise<Stack> {
  const plant = async (database: DatabaseConfig): Promise<void> => {
    await plantFiles(database, { 'user-0': MANY, 'user-1': FEW })
  }
  return opened.use(await openStack({ name, servers, profile, users: 2, plant }))
}
