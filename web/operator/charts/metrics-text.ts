/** Counters of the service at one moment, since its start. */
export interface Sample {
  /** Milliseconds, by the browser's monotonic clock. */
  readonly at: number
  readonly receivedBytes: number
  readonly sentBytes: number
  /** Uploads that stored a file. */
  readonly uploads: number
  readonly uploadsRunning: number
  readonly uploadedBytes: number
  readonly refusals: number
  readonly refusalsByCode: ReadonlyMap<string, number>
  /** By how much the clock is ahead of the time by which the service destroys what has ended. */
  readonly clockLeadSeconds: number
  /** Of all instances; `undefined` if the database did not answer. */
  readonly everywhere: Everywhere | undefined
}

/** What the database says of all instances. */
export interface Everywhere {
  readonly uploads: number
  /** Reserved or announced by these uploads. */
  readonly bytes: number
  /** Objects that are to be deleted. */
  readonly garbage: number
}

const PREFIX = 'cloud_repository_'

// Requests of this page do not count as traffic.
const PUBLIC = 'listener="public"'

const UPLOADED = [
  /method="(PUT|POST)"/,
  /route="[^"]*\/users\/me\/repo\/\*"/,
  'status="200"',
] as const

/** Reads the values of the charts from the Prometheus text format. */
export function readSample(text: string, at: number): Sample {
  const lines = text.split('\n').filter((line) => line.startsWith(PREFIX))
  const sum = (name: string, ...labels: readonly (string | RegExp)[]): number =>
    lines
      .filter((line) => isOf(line, PREFIX + name) && labels.every((label) => has(line, label)))
      .reduce((total, line) => total + valueOf(line), 0)
  const refusalsByCode = new Map<string, number>()
  for (const line of lines) {
    const [, code] = /^cloud_repository_refusals_total\{code="(\w+)"\}/.exec(line) ?? []
    if (code !== undefined) refusalsByCode.set(code, valueOf(line))
  }
  return {
    at,
    receivedBytes: sum('received_bytes_total', PUBLIC),
    sentBytes: sum('sent_bytes_total', PUBLIC),
    uploads: sum('requests_total', PUBLIC, ...UPLOADED),
    uploadsRunning: sum('uploads_running'),
    uploadedBytes: sum('uploaded_bytes_total'),
    refusals: sum('refusals_total'),
    refusalsByCode,
    clockLeadSeconds: sum('clock_lead_seconds'),
    everywhere: lines.some((line) => isOf(line, `${PREFIX}garbage_objects`))
      ? {
          uploads: sum('reservations') + sum('unfinished_uploads'),
          bytes: sum('reserved_bytes') + sum('unfinished_bytes'),
          garbage: sum('garbage_objects'),
        }
      : undefined,
  }
}

function isOf(line: string, name: string): boolean {
  return line.startsWith(name) && (line[name.length] === '{' || line[name.length] === ' ')
}

function has(line: string, label: string | RegExp): boolean {
  return typeof label === 'string' ? line.includes(label) : label.test(line)
}

function valueOf(line: string): number {
  const value = Number(line.slice(line.lastIndexOf(' ') + 1))
  // NaN stands for an unknown value.
  return Number.isFinite(value) ? value : 0
}
