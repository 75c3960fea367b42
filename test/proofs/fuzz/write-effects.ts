import { ABSENT, type Content, type Oracle, type OpenWrite } from '../crash/oracle.ts'
import { sha256 } from '../crash/content.ts'
import { readFormFile } from './form-reader.ts'
import { type ReadRequest, valuesOf } from './request-reader.ts'
import { readResumable, type ResumableRequest } from './resumable/resumable-reader.ts'
import { effectOfBatch } from './batch-effects.ts'
import { isName, nameOf, segmentsOf } from './target-reader.ts'

/** What a write does when it succeeds: what each of its files holds from then on. */
export type Effect = ReadonlyMap<string, readonly Content[]>

const WRITES = new Set(['POST', 'PUT', 'DELETE', 'PATCH'])

export function isWrite({ method, target }: ReadRequest): boolean {
  return WRITES.has(method) && !WITHOUT_FILES.test(segmentsOf(target).join('/'))
}

/** Writes to these change no file, single operations of batches because the valid ones are chosen so. */
const WITHOUT_FILES = /^\/users\/me\/(access-tokens|batch|links|history)\b/

const BATCH = '/users/me/batch'

/** By the strict reading of the request; `undefined` where that finds no write that may succeed. */
export function effectOf(
  request: ReadRequest,
  files: ReadonlyMap<string, readonly Content[]>,
): Effect | undefined {
  const now = (of: string): readonly Content[] => files.get(of) ?? [ABSENT]
  const name = nameOf(request.target)
  const resumable = readResumable(request)
  const isPlain = valuesOf(request, 'transfer-encoding').every((coding) =>
    /^chunked$/i.test(coding),
  )
  const isKnown = ['1.0', '1.1'].includes(request.version)
  if (isKnown && isPlain && resumable !== undefined) return effectOfPart(request, resumable)
  if (!request.isWhole || !isKnown) return undefined
  const isBatch = request.method === 'POST' && segmentsOf(request.target).join('/') === BATCH
  if (isBatch) return effectOfBatch(request.body, files)
  if (name === undefined) return undefined
  if (!isPlain && request.method !== 'DELETE') return undefined
  if (isPart(request)) return undefined
  switch (request.method) {
    case 'POST': {
      const file = readFormFile(valuesOf(request, 'content-type')[0] ?? '', request.body)
      return file && isName(name, file.length) ? new Map([[name, [sha256(file)]]]) : undefined
    }
    case 'PUT':
      return isName(name, request.body.length)
        ? new Map([[name, [sha256(request.body)]]])
        : undefined
    case 'DELETE':
      return new Map([[name, [ABSENT]]])
    case 'PATCH': {
      const to = newNameOf(request.body)
      const isEmpty = now(name).includes(EMPTY)
      if (to !== undefined && !isName(to, isEmpty ? 0 : 1)) return undefined
      return to === undefined || to === name
        ? new Map()
        : new Map([
            [to, now(name)],
            [name, [ABSENT]],
          ])
    }
    default:
      return undefined
  }
}

/** A body that is not said to be a whole file must never become one. */
function isPart(request: ReadRequest): boolean {
  const complete = valuesOf(request, 'upload-complete')
  const isUpload = request.method === 'PUT' || request.method === 'POST'
  return isUpload && complete.length > 0 && complete.join(', ') !== '?1'
}

/** A body that breaks off is no defect: the bytes that have come count. */
function effectOfPart({ body }: ReadRequest, resumable: ResumableRequest): Effect | undefined {
  if (resumable.kind === 'create' && !isName(resumable.name, body.length)) return undefined
  const isFile = resumable.kind === 'create' && resumable.endsFile
  return isFile ? new Map([[resumable.name, [sha256(body)]]]) : new Map()
}

/** Tells the oracle of a write that is about to be sent. */
export function beginAll(
  oracle: Oracle,
  { userId, effect }: { userId: string; effect: Effect },
): OpenWrite[] {
  return [...effect].map(([name, contents]) => oracle.begin(`${userId}/${name}`, contents))
}

const EMPTY = sha256('')

function newNameOf(body: Buffer): string | undefined {
  try {
    const { name } = JSON.parse(body.toString()) as { name?: unknown }
    return typeof name === 'string' ? name : undefined
  } catch {
    return undefined
  }
}
