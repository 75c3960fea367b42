import type { BatchOperation, BatchResult, Files } from '../../../packages/js/src/client.ts'
import type { CloudRepositoryError } from '../../../packages/js/src/errors.ts'
import { Attempts } from '../../../packages/js/src/http/retry.ts'
import { problemOf } from '../../shared/connection.ts'
import type { FileEntry } from '../../shared/model.ts'

/** One operation, and what it is for: one file, or all files of a folder. */
export interface Step {
  readonly files: readonly FileEntry[]
  readonly operation: BatchOperation
  readonly ofFolder?: OfFolder
}

/** Of an operation for a folder. */
interface OfFolder {
  /** What becomes of each of its files, which the service tells of single files only. */
  become(file: FileEntry): FileEntry | null
  /** The same on single files, for a folder that has got more files than one batch takes. */
  byFile(): readonly Step[]
}

/** What was done for a file: what became of it, or `null` if it is deleted, or was missing. */
export interface Done {
  readonly file: FileEntry
  readonly after: FileEntry | null
}

export interface Outcome {
  readonly done: readonly Done[]
  /** Each with the refusal of the service. */
  readonly refused: readonly { readonly file: FileEntry; readonly error: unknown }[]
  /** What ended it before all steps were done or refused. */
  readonly failure?: unknown
}

export interface BatchOptions {
  readonly files: Pick<Files, 'batch'>
  readonly steps: readonly Step[]
  /**
   * Whether to leave out files whose operation the service refuses. Otherwise, a refusal is the failure, and its batch
   * does nothing.
   */
  readonly skipsRefused: boolean
  /** Ends it before the next batch, with its reason as the failure. */
  readonly signal: AbortSignal
  /** Called after each batch, with what it has done. */
  readonly onBatch: (done: readonly Done[]) => void
}

/** Does the steps in order, in batches as large as the service takes: each is done whole or not at all. Never rejects. */
export async function runBatches(options: BatchOptions): Promise<Outcome> {
  const { files, steps, skipsRefused, signal, onBatch } = options
  const done: Done[] = []
  const refused: { file: FileEntry; error: unknown }[] = []
  const queue = batchesOf(steps)
  for (let batch = queue.shift(); batch !== undefined; batch = queue.shift()) {
    if (signal.aborted) return { done, refused, failure: signal.reason }
    let left: readonly Step[] = batch
    while (left.length > 0) {
      try {
        const { results } = await send(files, left)
        const finished = left.flatMap(({ files, ofFolder }, at) =>
          files.map((file) => ({
            file,
            after: ofFolder?.become(file) ?? results[at]?.file ?? null,
          })),
        )
        done.push(...finished)
        onBatch(finished)
        break
      } catch (error) {
        if (isTooMany(error) && left.some(({ ofFolder }) => ofFolder !== undefined)) {
          queue.unshift(...batchesOf(left.flatMap((step) => step.ofFolder?.byFile() ?? step)))
          break
        }
        const at = skipsRefused && refused.length < MAX_REFUSED ? refusedStep(error) : undefined
        const step = at === undefined ? undefined : left[at]
        if (at === undefined || step === undefined) return { done, refused, failure: error }
        refused.push(...step.files.map((file) => ({ file, error })))
        left = left.toSpliced(at, 1)
      }
    }
  }
  return { done, refused }
}

/** Each refusal takes another request. */
const MAX_REFUSED = 20

/** As many as the service does in one batch, of which one for a folder counts as many as its files. */
export const MAX_OPERATIONS = 1_000

/** The service accepts 1 MiB of JSON. */
const MAX_BYTES = 1_000_000

function batchesOf(steps: readonly Step[]): Step[][] {
  const batches: Step[][] = []
  let [bytes, count] = [0, 0]
  for (const step of steps) {
    const size = new TextEncoder().encode(JSON.stringify(step.operation)).length + 1
    bytes += size
    count += step.files.length
    const last = batches.at(-1)
    if (last === undefined || count > MAX_OPERATIONS || bytes > MAX_BYTES) {
      batches.push([step])
      bytes = size
      count = step.files.length
    } else last.push(step)
  }
  return batches
}

/** Sends a batch, again after a lost response if what it does a second time is nothing. */
async function send(files: Pick<Files, 'batch'>, steps: readonly Step[]): Promise<BatchResult> {
  const operations = steps.map(({ operation }) => operation)
  // A file can have the former name of another one by then.
  const isRepeatable = !operations.some(({ op }) => op === 'rename')
  const when = ({ code }: CloudRepositoryError): boolean => code === 'connection_lost'
  const attempts = new Attempts({ tries: isRepeatable ? 3 : 1, when }, undefined)
  return await attempts.until(() => files.batch(operations))
}

/** Whether the folders of the batch had more files than the service takes at once. */
function isTooMany(error: unknown): boolean {
  return problemOf(error)?.matched !== undefined
}

/** The index of the operation that the service refuses because of its file, and only of that. */
function refusedStep(error: unknown): number | undefined {
  const problem = problemOf(error)
  return problem !== undefined && OF_FILE.has(problem.code) ? problem.operation : undefined
}

const OF_FILE: ReadonlySet<string> = new Set([
  'precondition_failed',
  'not_found',
  'version_gone',
  'file_exists',
])
