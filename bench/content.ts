import { createHash } from 'node:crypto'

/** The content that `requests.lua` sends as request `number`. */
export function numbered(content: Buffer, number: number): Buffer {
  return Buffer.concat([Buffer.from(String(number).padStart(16, '0')), content.subarray(16)])
}

/** Throws unless the answer is 200 with this content. */
export async function expectContent(
  request: { readonly url: string; readonly cookie?: string | undefined },
  content: Buffer,
): Promise<void> {
  const headers = request.cookie === undefined ? {} : { cookie: request.cookie }
  const reply = await fetch(request.url, { headers })
  const received = new Uint8Array(await reply.arrayBuffer())
  if (reply.status === 200 && sha256(received) === sha256(content)) return
  throw new Error(`A sampled file is not as it was sent (${reply.status}).`)
}

function sha256(content: Uint8Array): string {
  return createHash('sha256').update(content).digest('hex')
}
