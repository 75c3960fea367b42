// Never runs: `npm run check` compiles it. Each `@ts-expect-error` is a mistake that the types of the package refuse, and
// would be an error itself if they did not.
import { createAdminClient } from '../../../packages/js/src/admin.ts'
import {
  type Client,
  CloudRepositoryError,
  type Content,
  createClient,
  type ErrorCode,
  isProblem,
} from '../../../packages/js/src/client.ts'

const url = 'https://files.example.com'

export function clients(): void {
  createClient({ url, token: 'crt_' })
  createClient({ url, token: () => Promise.resolve('crt_') })
  createClient({ url, cookies: true, retry: { tries: 1 } })
  createClient({ url })
  // @ts-expect-error either a token or cookies
  createClient({ url, token: 'crt_', cookies: true })
  // @ts-expect-error cookies are sent or not named
  createClient({ url, cookies: false })
  // @ts-expect-error no address
  createClient({ token: 'crt_' })
  // @ts-expect-error an unknown option
  createClient({ url, tocken: 'crt_' })
  // @ts-expect-error operators need a token
  createAdminClient({ url })
}

export async function uploads(
  { files }: Client,
  content: Content,
  stream: ReadableStream<Uint8Array>,
): Promise<void> {
  const file = await files.upload('a', content, { visibility: 'public', resume: 'auto' })
  file.evicted?.bytes.toFixed()
  await files.upload('a', { path: 'a.txt' }, { digest: true })
  await files.upload('a', stream, { digest: 'ab' })
  // @ts-expect-error a stream is read only once, so its digest has to be known
  await files.upload('a', stream, { digest: true })
  // @ts-expect-error a string could be text or a path
  await files.upload('a', 'text')
  // @ts-expect-error no content
  await files.upload('a')
  await files.upload('a', content, { uploadId: null })
  // @ts-expect-error an unknown visibility
  await files.upload('a', content, { visibility: 'everyone' })
  // @ts-expect-error an unknown value
  await files.upload('a', content, { resume: 'always' })
  // @ts-expect-error a duration is in seconds
  await files.upload('a', content, { expiresIn: new Date() })
  // @ts-expect-error replies are read only
  file.size = 3
  // @ts-expect-error only an upload in one request tells it
  file.capacity.available.toFixed()
}

export async function others({ files, links, tokens, history, changes }: Client): Promise<void> {
  for await (const file of files.list({ order: '-size' })) file.sha256.at(0)
  // @ts-expect-error an unknown order
  files.list({ order: 'date' })
  // @ts-expect-error a listing is iterated
  void files.list().length
  await files.update('a', { keep: true, expires_at: null })
  // @ts-expect-error rename changes the name
  await files.update('a', { name: 'b' })
  // @ts-expect-error metadata are strings
  await files.update('a', { metadata: { a: 1 } })
  // @ts-expect-error an unknown member
  await files.update('a', { visible: true })
  await links.create({ kind: 'download', name: 'a', max_uses: 3 })
  // @ts-expect-error a link for drops has a prefix
  await links.create({ kind: 'drop', name: 'a' })
  // @ts-expect-error a name or a prefix
  await links.create({ kind: 'download', name: 'a', prefix: 'a' })
  // @ts-expect-error a name or a prefix
  await links.create({ kind: 'download' })
  await tokens.create({ scope: { actions: ['read'] } })
  // @ts-expect-error an unknown action
  await tokens.create({ scope: { actions: ['write'] } })
  // @ts-expect-error all versions are purged by a method of its own
  await history.purge()
  let cursor: string | undefined
  for await (const page of files.list().pages()) {
    cursor ??= page.changes_cursor
    for (const { name } of page.files) name.at(0)
  }
  for await (const { type, name, previous_name: before, used } of changes.follow({ cursor })) {
    // @ts-expect-error an unknown type
    if (type === 'file.moved') break
    // @ts-expect-error a change of the capacity has none
    name.at(0)
    if (type === 'file.renamed') before.at(0)
    else if (type === 'file.created') name.at(0)
    else if (type === 'capacity.normal') used.toFixed()
  }
}

export function errors(error: unknown): number {
  if (isProblem(error, 'capacity_exceeded')) {
    // @ts-expect-error this problem has no such member
    void error.problem.max_files
    return error.problem.requested
  }
  // @ts-expect-error an unknown code
  isProblem(error, 'full')
  if (!(error instanceof CloudRepositoryError)) return 0
  const { problem } = error
  // @ts-expect-error only some problems have it
  void problem.available
  if (problem.code === 'file_count_exceeded') return problem.max_files
  // @ts-expect-error an unknown code
  if (problem.code === 'full') return 0
  return (problem.code satisfies ErrorCode).length
}
