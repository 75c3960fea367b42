import type { CommandCall } from './command.ts'

const EVERY_MS = 10_000

/** Says every 10 s how far a command has come that takes long; what it returns can be called as often as one likes. */
export function showProgress<T>(
  { printError }: Pick<CommandCall, 'printError'>,
  describe: (progress: T) => string,
): (progress: T) => void {
  let toldAt = performance.now()
  return (progress) => {
    if (performance.now() - toldAt < EVERY_MS) return
    toldAt = performance.now()
    printError(`so far ${describe(progress)}`)
  }
}

export interface Transfer {
  /** Bytes. */
  readonly moved: number
  readonly total: number
}

const BAR_WIDTH = 30

/** Draws a bar on a terminal, and elsewhere says every 10 s how far a transfer has come. Disposed of, it leaves no bar. */
export function showTransfer(call: Pick<CommandCall, 'printError' | 'drawLine'>) {
  const { drawLine } = call
  const describe = ({ moved, total }: Transfer): string => `${moved} of ${total} bytes`
  const say = showProgress(call, describe)
  const onProgress = (transfer: Transfer): void => {
    if (drawLine === undefined) return say(transfer)
    const share = Math.min(1, transfer.moved / Math.max(1, transfer.total))
    const filled = Math.round(share * BAR_WIDTH)
    const bar = '#'.repeat(filled).padEnd(BAR_WIDTH, '.')
    drawLine(`[${bar}] ${Math.floor(share * 100)} %  ${describe(transfer)}`)
  }
  return { onProgress, [Symbol.dispose]: () => drawLine?.('') }
}
