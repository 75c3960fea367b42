import { createHash } from 'node:crypto'

/** The content that `requests.lua` sends as request `number`. */
export function numbered(content: Buffer, number: number): Buffer {
  return Buffer.concat([Buffer.from(String(number).padStart(16, '0')), content.subarray(16)])
}

export interface Place {
  readonly url: string
  readonly cookie?: string | undefined
}

/** Throws unless the answer is 200 with this content. */
export async function expectContent(place: Place, content: Buffer): Promise<void> {
  if (sha256(await read(place)) !== sha256(content)) throw new Error(NOT_AS_SENT)
}

/** Throws unless the answer is 200 with this content as one of the requests had it. */
export async function expectAnyNumber(place: Place, content: Buffer): Promise<void> {
  const received = await read(place)
  const number = Number(received.subarray(0, 16).toString('latin1'))
  if (sha256(received) !== sha256(numbered(content, number))) throw new Error(NOT_AS_SENT)
}

const NOT_AS_SENT = 'A sampled file is not as it was sent.'

async function read({ url, cookie }: Place): Promise<Buffer> {
  const reply = await fetch(url, { headers: cookie === undefined ? {} : { cookie } })
  const received = Buffer.from(await reply.arrayBuffer())
  if (reply.status !== 200) throw new Error(`A sampled file was answered with ${reply.status}.`)
  return received
}

function sha256(content: Uint8Array): string {
  return createHash('sha256').update(content).digest('hex')
}
