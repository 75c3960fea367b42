import { createHash } from 'node:crypto'
import type { Random } from '../../simulation/plan/random.ts'
import { contentOfSize, message, someContent } from '../message.ts'
import { someCondition, type Subject } from '../subject.ts'

const UPLOADS = '/users/me/uploads'
const TUS = 'Tus-Resumable: 1.0.0'
const BYTES = 'Content-Type: application/offset+octet-stream'

/** One well-formed request about resumable uploads. */
export function resumableRequest(subject: Subject, random: Random): Buffer {
  const own = random.chance(0.95) ? [`Cookie: ${subject.cookie}`] : []
  const member = `${UPLOADS}/${subject.upload.id}`
  const tus = [...own, TUS]
  return random.pick<() => Buffer>([
    () => creation(subject, { random, headers: tus }),
    () => creation(subject, { random, headers: tus }),
    () => append(subject, { random, headers: tus }),
    () => append(subject, { random, headers: tus }),
    () => append(subject, { random, headers: tus }),
    () => message({ line: `HEAD ${member}`, headers: random.pick([tus, own]) }),
    () => message({ line: `GET ${member}`, headers: random.pick([tus, own]) }),
    () => message({ line: `DELETE ${member}`, headers: tus }),
    () =>
      message({
        line: `POST ${member}`,
        headers: [...tus, 'X-HTTP-Method-Override: DELETE'],
        body: Buffer.alloc(0),
      }),
    () => message({ line: `GET ${UPLOADS}?limit=${1 + random.below(3)}`, headers: own }),
    () => message({ line: `OPTIONS ${random.pick([UPLOADS, member])}`, headers: tus }),
  ])()
}

interface Build {
  readonly random: Random
  readonly headers: readonly string[]
}

function creation(subject: Subject, { random, headers }: Build): Buffer {
  const content = someContent(random)
  const hasContent = random.chance(0.6)
  const length = random.pick([content.length, content.length, content.length + 5, 0, 2 ** 45])
  const { kept, fresh } = subject
  return message({
    line: `POST ${UPLOADS}${random.pick(['', '', '/', '?visibility=public'])}`,
    headers: [
      ...headers,
      random.pick([
        `Upload-Length: ${length}`,
        `Upload-Length: ${length}`,
        'Upload-Defer-Length: 1',
      ]),
      `Upload-Metadata: ${metadata(random.chance(0.3) ? kept.name : fresh, random)}`,
      ...someCondition(subject, random),
      ...(hasContent ? [BYTES, ...someChecksum(content, random)] : []),
    ],
    ...(hasContent
      ? { body: content, ...(random.chance(0.4) && { chunked: random }) }
      : { body: Buffer.alloc(0) }),
  })
}

function metadata(name: string, random: Random): string {
  const key = random.pick(['filename', 'filename', 'name'])
  const pairs = [`${key} ${base64(name)}`]
  if (random.chance(0.2)) pairs.push(`visibility ${base64(random.pick(['users', 'private']))}`)
  if (random.chance(0.2)) pairs.unshift('is_film')
  return pairs.join(',')
}

function append(subject: Subject, { random, headers }: Build): Buffer {
  const { id, length } = subject.upload
  const { offset, content } = someAppend(subject, random)
  const override = random.chance(0.2) ? ['X-HTTP-Method-Override: PATCH'] : []
  const declared = length === undefined && random.chance(0.5)
  return message({
    line: `${override.length > 0 ? 'POST' : 'PATCH'} ${UPLOADS}/${id}`,
    headers: [
      ...headers,
      BYTES,
      `Upload-Offset: ${offset}`,
      ...override,
      ...(declared ? [`Upload-Length: ${offset + content.length + random.below(3)}`] : []),
      ...someChecksum(content, random),
    ],
    body: content,
    ...(random.chance(0.4) && { chunked: random }),
  })
}

/** Mostly where the upload continues; too short, of the right length, or too long. */
function someAppend({ upload }: Subject, random: Random) {
  const { offset, length = offset + 300 } = upload
  const rest = length - offset
  const size = random.pick([random.below(rest), random.below(rest), rest, rest + 1, 0, 70_000])
  const at = random.chance(0.85) ? offset : random.below(length + 2)
  return { offset: at, content: contentOfSize(size, random) }
}

function someChecksum(content: Buffer, random: Random): string[] {
  if (random.chance(0.7)) return []
  const algorithm = random.pick(['sha1', 'sha256'])
  const digested = random.chance(0.8) ? content : 'other'
  return [`Upload-Checksum: ${algorithm} ${digest(algorithm, digested)}`]
}

function digest(algorithm: string, content: Buffer | string): string {
  return createHash(algorithm).update(content).digest('base64')
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64')
}
