import { readFile } from 'node:fs/promises'
import { eventually } from '../../support/eventually.ts'
import { answers, freePort } from '../../support/servers/local-server.ts'
import { startProgram } from '../../support/service/program.ts'

/** The real program as a process of its own, whose memory can be read. */
export interface MeasuredService {
  readonly port: number
  /** Bytes that it has in the machine's memory. */
  residentBytes(): Promise<number>
  /** The most that it had since it began. */
  peakBytes(): Promise<number>
}

/** Runs `cloud-repo serve` with these settings until `opened` ends. Resolves when it answers. Linux only. */
export async function startMeasured(
  environment: Readonly<Record<string, string>>,
  opened: AsyncDisposableStack,
): Promise<MeasuredService> {
  const port = await freePort()
  const { process, output } = await startProgram({
    args: ['serve'],
    environment: { ...environment, PORT: String(port) },
    opened,
  })
  await eventually(async () => {
    if (await answers(`http://127.0.0.1:${port}/readyz`)) return
    throw new Error(`It does not listen: ${output()}`)
  })
  const figure = async (name: string): Promise<number> => {
    const status = await readFile(`/proc/${process.pid}/status`, 'utf8')
    return Number(new RegExp(`${name}:\\s+(\\d+) kB`).exec(status)?.[1]) * 1024
  }
  return { port, residentBytes: () => figure('VmRSS'), peakBytes: () => figure('VmHWM') }
}
