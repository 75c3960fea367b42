import { createRandom, type Random } from '../../proofs/simulation/plan/random.ts'
import { type Break, type Ending, startTcpProxy, type TcpProxy } from './tcp-proxy.ts'

/** What a client was told by a HEAD. */
export interface ToldOffset {
  /** The header, which has the name of the file. */
  readonly metadata: string
  readonly offset: number
}

export interface BreakingProxy extends TcpProxy {
  readonly told: readonly ToldOffset[]
}

/** A proxy in front of the service on `port` that breaks each connection, as the seed has it. */
export async function startBreakingProxy(options: {
  readonly port: number
  readonly seed: number
}): Promise<BreakingProxy> {
  const random = createRandom(options.seed)
  const told: ToldOffset[] = []
  const proxy = await startTcpProxy({
    ports: [options.port],
    faultsOf: () => planBreaks(random),
    changesOf: () => ({ answer: createReader(told) }),
  })
  return { ...proxy, told }
}

const MIN_REQUEST_BYTES = 250_000
const MAX_REQUEST_BYTES = 900_000
/** Some answers without content. */
const MAX_ANSWER_BYTES = 1_500

function planBreaks(random: Random): Record<'request' | 'answer', readonly Break[]> {
  const losesAnswer = random.chance(1 / 8)
  const request = MIN_REQUEST_BYTES + random.below(MAX_REQUEST_BYTES - MIN_REQUEST_BYTES)
  const answer = losesAnswer ? random.below(MAX_ANSWER_BYTES) : Infinity
  const ending = (): Ending => random.pick(['fin', 'rst'])
  const ends = {
    kind: 'break',
    client: ending(),
    server: ending(),
    isClientFirst: random.chance(1 / 6),
  } as const
  // A FIN never comes in the middle of an answer's head, where most libraries take it for the end of the head.
  const dropsPiece = ends.client === 'fin'
  return {
    request: [{ ...ends, bytes: request, dropsPiece: false }],
    answer: [{ ...ends, bytes: answer, dropsPiece }],
  }
}

/** Finds the offsets in the answers of one connection, which pass. */
function createReader(told: ToldOffset[]): (bytes: Buffer) => Buffer {
  let text = ''
  return (bytes) => {
    text += bytes.toString('latin1')
    for (;;) {
      const end = text.indexOf('\r\n\r\n')
      if (end < 0) return bytes
      const head = text.slice(0, end)
      text = text.slice(end + 4)
      const metadata = headerOf(head, 'upload-metadata')
      const offset = headerOf(head, 'upload-offset')
      // No other answer has both.
      if (metadata !== undefined && offset !== undefined) {
        told.push({ metadata, offset: Number(offset) })
      }
    }
  }
}

function headerOf(head: string, name: string): string | undefined {
  return new RegExp(`^${name}: (.*)$`, 'im').exec(head)?.[1]?.trim()
}
