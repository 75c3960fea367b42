import type { Random } from '../plan/random.ts'

/** A call that leaves the process. */
export interface Call {
  readonly seam: 'ledger' | 's3'
  /** Method of the ledger, or operation of S3. */
  readonly name: string
}

const LEDGER_FAULTS = [
  // It fails before it has had its effect.
  'refused',
  // It has its effect, and its answer is lost.
  'answer lost',
  // The driver stops waiting, and the effect comes much later.
  'late',
  // It takes long, within what the driver waits.
  'slow',
  // Its effect comes at once, its answer late.
  'slow answer',
] as const

const S3_FAULTS = [
  // 503 without effect.
  'refused',
  // The connection breaks, before or after the effect.
  'reset',
  'answer lost',
  // The connection breaks, and the effect comes much later.
  'late',
  // Never an answer; never an effect, or one much later.
  'silent',
  'silent and late',
  // It takes long, perhaps longer than the adapter waits.
  'slow',
  'slow answer',
] as const

const COMPLETE_FAULTS = ['error in 200', 'empty 200'] as const
const CONTENT_FAULTS = ['truncated'] as const
const READ_FAULTS = ['cut body', 'short body', 'stalled body'] as const

export type LedgerFault = (typeof LEDGER_FAULTS)[number]
export type S3Fault =
  | (typeof S3_FAULTS)[number]
  | (typeof COMPLETE_FAULTS)[number]
  | (typeof CONTENT_FAULTS)[number]
  | (typeof READ_FAULTS)[number]

/** Decides which calls fail, and how. */
export interface Faults {
  ledger(name: string): LedgerFault | undefined
  s3(name: string): S3Fault | undefined
  /** From now on everything works. */
  stop(): void
  /** How often each was injected. */
  readonly injected: ReadonlyMap<string, number>
  /** Every call, in order. */
  readonly calls: readonly Call[]
}

export interface PlannedFault {
  /** Number of the call, from 0. */
  readonly call: number
  /** Index into `faultsOf` that call, wrapped around. */
  readonly fault: number
}

/** All ways in which a call can fail. */
export function faultsOf(call: Call): readonly (LedgerFault | S3Fault)[] {
  return call.seam === 'ledger' ? LEDGER_FAULTS : s3FaultsOf(call.name)
}

/** Faults by chance, and those planned. */
export function createFaults(options: {
  readonly random: Random
  /** Of calls, 0 to 1. */
  readonly rate: number
  readonly planned: readonly PlannedFault[]
}): Faults {
  const { random, rate } = options
  const planned = new Map(options.planned.map(({ call, fault }) => [call, fault]))
  const injected = new Map<string, number>()
  const calls: Call[] = []
  let isStopped = false

  function choose<F extends string>(call: Call, faults: readonly F[]): F | undefined {
    const index = planned.get(calls.push(call) - 1)
    if (isStopped) return undefined
    if (index === undefined && !random.chance(rate)) return undefined
    const fault = faults[index === undefined ? random.below(faults.length) : index % faults.length]
    const label = `${call.seam}: ${fault}`
    injected.set(label, (injected.get(label) ?? 0) + 1)
    return fault
  }

  return {
    ledger: (name) => choose({ seam: 'ledger', name }, LEDGER_FAULTS),
    s3: (name) => choose({ seam: 's3', name }, s3FaultsOf(name)),
    stop: () => void (isStopped = true),
    injected,
    calls,
  }
}

function s3FaultsOf(operation: string): readonly S3Fault[] {
  switch (operation) {
    case 'CompleteMultipartUpload':
      return [...S3_FAULTS, ...COMPLETE_FAULTS]
    case 'PutObject':
    case 'UploadPart':
      return [...S3_FAULTS, ...CONTENT_FAULTS]
    case 'GetObject':
      return [...S3_FAULTS, ...READ_FAULTS]
    default:
      return S3_FAULTS
  }
}
