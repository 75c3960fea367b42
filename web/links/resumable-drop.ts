import { unexpectedResponse } from '../../packages/js/src/errors.ts'
import { sendParts } from '../../packages/js/src/files/resumable/send.ts'
import { base64, TUS } from '../../packages/js/src/files/resumable/unfinished.ts'
import type { Source } from '../../packages/js/src/files/source.ts'
import type { Http } from '../../packages/js/src/http/http.ts'
import type { Visit } from './visit.ts'

/** One file, and the link that takes it. */
export interface SentDrop {
  readonly http: Http
  readonly visit: Visit
  readonly name: string
  readonly source: Source
  readonly onProgress: (sent: number) => void
}

/** Sends a file with tus. Nothing tells a link which uploads it has, so a lost response to the creation leaves one. */
export async function sendResumably(drop: SentDrop): Promise<void> {
  const { http, visit, name, source, onProgress } = drop
  const uploads = `${visit.pathOf('uploads')}/`
  const { size } = source
  const metadata = `filename ${base64(name)}`
  const headers = { ...TUS, 'upload-length': String(size), 'upload-metadata': metadata }
  const { status, headers: answered } = await http.call({ method: 'POST', path: uploads, headers })
  const id = answered.get('location')?.split('/').at(-1)
  if (id === undefined) throw unexpectedResponse(status, { missing: 'Location' })
  const part = { source, isLast: true }
  const sending = {
    http,
    path: uploads + id,
    hasBegun: false,
    first: part,
    next: () => Promise.resolve(part),
    defersLength: false,
    digest: undefined,
    whyGone: async (gone: unknown) => gone,
    options: { onProgress: ({ sent }: { readonly sent: number }) => onProgress(sent) },
  }
  await sendParts(sending, http.attempts(undefined))
}
