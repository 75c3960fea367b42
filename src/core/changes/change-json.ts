import { servedMediaType } from '../files/served-media-type.ts'
import { formatTimestamp } from '../timestamp.ts'
import type { Change } from './change.ts'

/** A change as clients and webhooks get it. A deleted file is described as it was. */
export function changeJson(change: Change) {
  const { sequence, type } = change
  const at = formatTimestamp(change.at)
  if (!('file' in change)) {
    return { sequence, type, at, capacity: change.capacity, used: change.used }
  }
  const { file, previousName } = change
  const { name, version, size, sha256, visibility, deviceId: device_id } = file
  const renamed = previousName === undefined ? {} : { previous_name: previousName }
  const others = { visibility, media_type: servedMediaType(file), device_id }
  return { sequence, type, at, name, ...renamed, version, size, sha256, ...others }
}
