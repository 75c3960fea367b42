import { expectAnyNumber, numbered } from '../setup/content.ts'
import { measure } from '../measure/measure.ts'
import { runWrk } from '../measure/wrk.ts'
import type { RunningPeer } from '../peers/peer.ts'
import type { Side } from '../scenario.ts'
import type { Stack } from '../setup/stack.ts'
import { FILES, readingSide } from './downloads.ts'
import { PREPARED_PER_SECOND } from './uploads.ts'

export interface PeerLoad {
  readonly name: string
  readonly peer: RunningPeer
  /** The service that is measured in turns with the peer. */
  readonly stack: Stack
  readonly content: Buffer
  readonly seconds: number
}

/** As many uploads as the peer takes, each to a name of its own. */
export function peerUploads({ name, peer, stack, content, seconds }: PeerLoad): Side {
  const numbers = Array.from({ length: PREPARED_PER_SECOND * seconds }, (_, at) => at + 1)
  return {
    name,
    async measure(round) {
      const load = {
        ...peer.upload(content),
        origin: peer.origin,
        targets: numbers.map((number) => peer.uploadPath(`file-${round}-${number}`)),
        contentBytes: content.length,
        seconds,
        folder: stack.folder,
      }
      const figures = await measure({ peer: [peer.pid] }, () => runWrk(load))
      for (const path of await peer.listPaths(SAMPLES)) {
        await expectAnyNumber({ url: `${peer.origin}${path}` }, content)
      }
      return figures
    },
  }
}

const SAMPLES = 8

/** Stores files on the peer, which are then read in turn. */
export async function peerDownloads(load: PeerLoad): Promise<Side> {
  const { peer, content } = load
  const paths: string[] = []
  for (let number = 1; number <= FILES; number += 1) {
    paths.push(await peer.store(`read-${number}`, numbered(content, number)))
  }
  const pathOf = (number: number): string => paths[number - 1] ?? ''
  return readingSide({
    ...load,
    origin: peer.origin,
    processes: { peer: [peer.pid] },
    target: pathOf,
    request: (number) => ({ url: `${peer.origin}${pathOf(number)}` }),
    contentOf: (number) => numbered(content, number),
  })
}
