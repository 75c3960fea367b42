import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { inside, onSmallDisk } from '../../support/faults/small-disk.ts'
import { type Demo, startDemo } from '../../support/service/demo.ts'
import { temporaryFolder } from '../../support/service/program.ts'

interface OnSmallDisk {
  readonly bytes: number
  readonly inodes?: number
  /** How often the program runs, the next time as soon as it ends; once when left out. */
  readonly runs?: number
  /** By the folder of the disk as the program sees it. Without a `DATA_DIR` it keeps nothing there. */
  readonly settings: (folder: string) => Readonly<Record<string, string>>
  readonly opened: AsyncDisposableStack
}

export interface DemoOnSmallDisk {
  readonly demo: Demo
  /** The disk as its test sees it. */
  readonly disk: string
  /** The same as the program itself sees it. */
  readonly mounted: string
  /** Ends the program, where it runs several times. */
  readonly end: (signal: NodeJS.Signals) => Promise<void>
}

export async function startOnSmallDisk({
  bytes,
  inodes,
  runs = 1,
  settings,
  opened,
}: OnSmallDisk): Promise<DemoOnSmallDisk> {
  const folder = await temporaryFolder(opened)
  const mounted = join(folder, 'small')
  await mkdir(mounted)
  const again = `${'"$@"; '.repeat(runs - 1)}exec "$@"`
  const demo = await startDemo({
    environment: { DATA_DIR: join(folder, 'data'), ...settings(mounted) },
    under: [...onSmallDisk(mounted, bytes, inodes), ...(runs > 1 ? ['sh', '-c', again, 'sh'] : [])],
    opened,
  })
  const { pid = 0 } = demo.process
  return {
    demo,
    disk: inside(demo.process, mounted),
    mounted,
    async end(signal) {
      const child = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')
      process.kill(Number(child), signal)
    },
  }
}

/** The second run of a program, once it listens. */
export function secondRunOf(demo: Demo): Demo {
  const [, url] = [...demo.output().matchAll(/listens on (\S+)/g)].map(([, found]) => found)
  if (url === undefined) throw new Error(`It does not listen: ${demo.output()}`)
  return { ...demo, url }
}
