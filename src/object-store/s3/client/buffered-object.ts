import { Readable } from 'node:stream'
import type { OpenedObject } from '../../../core/objects/object-store.ts'

/** An opened object of which all that was asked for is there. Its body is made when somebody wants one. */
export function bufferedObject(content: Uint8Array, size: number): OpenedObject {
  let body: Readable | undefined
  return {
    content,
    size,
    get body() {
      body ??= Readable.from(content.byteLength > 0 ? [content] : [], { objectMode: false })
      return body
    },
  }
}
