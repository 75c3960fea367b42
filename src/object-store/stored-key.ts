import type { ObjectKey } from '../core/object-key.ts'

const OBJECT_KEY = /^users\/[A-Za-z0-9_-]{1,64}\/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** Whether `text` has the shape of the keys that this service writes; whatever else a store holds is not ours. */
export function isObjectKey(text: string): text is ObjectKey {
  return OBJECT_KEY.test(text)
}
