import type { Peer } from './peer.ts'
import { pocketbase } from './pocketbase.ts'

/** By the name that `--peer` takes. */
export const PEERS: Readonly<Record<string, Peer>> = { pocketbase }
