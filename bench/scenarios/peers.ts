import { randomBytes } from 'node:crypto'
import { type Peer, request } from '../peers/peer.ts'
import { syncsPerRequest } from '../measure/syncs.ts'
import type { Contest, Scenario, Setting, Side } from '../scenario.ts'
import { serviceDownloads } from '../sides/downloads.ts'
import { peerDownloads, type PeerLoad, peerUploads } from '../sides/peer.ts'
import { serviceUploads } from '../sides/uploads.ts'
import { openStack } from '../setup/stack.ts'

export interface PeerProgram {
  /** As in `PEERS`. */
  readonly name: string
  readonly peer: Peer
  readonly program: string
}

/** The embedded default against another server with local files. */
export function peerScenarios({ name, peer, program }: PeerProgram): readonly Scenario[] {
  const { title, kind } = peer
  const prepare = async (
    { stack, servers, seconds, profile, opened }: Setting,
    { isOpen }: { readonly isOpen: boolean } = { isOpen: false },
  ) => {
    const running = await peer.start(program, { opened, isOpen })
    const own = opened.use(await openStack({ name: stack, servers, profile }))
    const content = randomBytes(4 * 2 ** 10)
    return { name: title, peer: running, stack: own, content, seconds } satisfies PeerLoad
  }
  const openUploads = (isOpen: boolean) => async (setting: Setting) => {
    const { stack, content, seconds, ...load } = await prepare(setting, { isOpen })
    const uploads = { stack, content, seconds }
    const { service } = stack
    const body = new Uint8Array(content)
    const headers = { cookie: stack.cookies[0] ?? '' }
    const upload = (fileName: string) =>
      request(`${service.url}/users/me/repo/${fileName}`, { method: 'PUT', headers, body })
    const store = (fileName: string) => load.peer.store(fileName, content)
    return {
      subject: withSyncs(serviceUploads({ ...uploads, kind }), service.pid, upload),
      baseline: withSyncs(peerUploads({ ...uploads, ...load }), load.peer.pid, store),
    }
  }
  return [
    {
      name: `${name}-upload-4k`,
      title: `4 KiB ${kind} uploads, each to a name of its own, with a token on both sides; against ${title}`,
      stacks: ['sqlite-files'],
      isAnew: true,
      open: openUploads(false),
    },
    {
      name: `${name}-open-upload-4k`,
      title: `4 KiB ${kind} uploads with a token; against ${title}, which needs none`,
      stacks: ['sqlite-files'],
      isAnew: true,
      open: openUploads(true),
    },
    {
      name: `${name}-download-4k`,
      title: `4 KiB downloads of private files with a token; against ${title}, which checks none`,
      stacks: ['sqlite-files'],
      isAnew: true,
      open: async (setting) => openDownloads(await prepare(setting), { isPublic: false }),
    },
    {
      name: `${name}-public-download-4k`,
      title: `4 KiB downloads of public files, without a token on either side; against ${title}`,
      stacks: ['sqlite-files'],
      isAnew: true,
      open: async (setting) => openDownloads(await prepare(setting), { isPublic: true }),
    },
  ]
}

/** Also counts how often the process syncs its files for an upload, which tells how durable uploads are. */
function withSyncs(side: Side, pid: number, upload: (fileName: string) => Promise<unknown>): Side {
  return {
    name: side.name,
    async measure(round) {
      const figures = await side.measure(round)
      const syncs = await syncsPerRequest(pid, async (number) => {
        await upload(`alone-${round}-${number}`)
      })
      return { ...figures, ...(syncs !== undefined && { syncs }) }
    },
  }
}

async function openDownloads(
  { stack, content, seconds, ...load }: PeerLoad,
  { isPublic }: { readonly isPublic: boolean },
): Promise<Contest> {
  const downloads = { stack, content, seconds }
  return {
    subject: await serviceDownloads({ ...downloads, isPublic }),
    baseline: await peerDownloads({ ...downloads, ...load }),
  }
}
