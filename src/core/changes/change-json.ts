import { formatTimestamp } from '../timestamp.ts'
import type { Change } from './change.ts'

/** A change as clients and webhooks get it. A deleted file is described as it was. */
export function changeJson(change: Change) {
  const { sequence, type, at } = change
  const heading = { sequence, type, at: formatTimestamp(at) }
  if (!('file' in change)) {
    return { ...heading, capacity: change.capacity, used: change.used }
  }
  const { file, previousName } = change
  const { name, version, size, sha256, visibility } = file
  const renamed = previousName === undefined ? {} : { previous_name: previousName }
  return { ...heading, name, ...renamed, version, size, sha256, visibility }
}
