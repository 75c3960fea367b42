import { ABSENT, type Content, type Oracle, type OpenWrite } from '../crash/oracle.ts'
import { sha256 } from '../crash/content.ts'
import { readFormFile } from './form-reader.ts'
import { type ReadRequest, valuesOf } from './request-reader.ts'

/** What a write does when it succeeds: what each of its files holds from then on. */
export type Effect = ReadonlyMap<string, readonly Content[]>

const WRITES = new Set(['POST', 'PUT', 'DELETE', 'PATCH'])

export function isWrite({ method }: ReadRequest): boolean {
  return WRITES.has(method)
}

/** By the strict reading of the request; `undefined` where that finds no write that may succeed. */
export function effectOf(
  request: ReadRequest,
  now: (name: string) => readonly Content[],
): Effect | undefined {
  const name = nameOf(request.target)
  const isPlain = valuesOf(request, 'transfer-encoding').every((coding) =>
    /^chunked$/i.test(coding),
  )
  const isKnown = ['1.0', '1.1'].includes(request.version)
  if (name === undefined || !request.isWhole || !isKnown) return undefined
  if (!isPlain && request.method !== 'DELETE') return undefined
  switch (request.method) {
    case 'POST': {
      const file = readFormFile(valuesOf(request, 'content-type')[0] ?? '', request.body)
      return file && new Map([[name, [sha256(file)]]])
    }
    case 'PUT':
      return new Map([[name, [sha256(request.body)]]])
    case 'DELETE':
      return new Map([[name, [ABSENT]]])
    case 'PATCH': {
      const to = newNameOf(request.body)
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

/** Tells the oracle of a write that is about to be sent. */
export function beginAll(
  oracle: Oracle,
  { userId, effect }: { userId: string; effect: Effect },
): OpenWrite[] {
  return [...effect].map(([name, contents]) => oracle.begin(`${userId}/${name}`, contents))
}

/** The name of the user's own file that a target names, which may be a whole URL (RFC 9112 section 3.2.2). */
function nameOf(target: string): string | undefined {
  const [path = ''] = target.replace(/^https?:\/\/[^/?#]*/i, '').split('?')
  const segments = path.split('/').map(decoded)
  const [start, users, me, repo, name] = segments
  const isOwn =
    segments.length === 5 && start === '' && users === 'users' && me === 'me' && repo === 'repo'
  return isOwn && name !== '' ? name : undefined
}

function decoded(segment: string): string | undefined {
  try {
    return segment.includes('#') ? undefined : decodeURIComponent(segment)
  } catch {
    return undefined
  }
}

function newNameOf(body: Buffer): string | undefined {
  try {
    const { name } = JSON.parse(body.toString()) as { name?: unknown }
    return typeof name === 'string' ? name : undefined
  } catch {
    return undefined
  }
}
