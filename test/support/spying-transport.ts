import { NodeHttpHandler } from '@smithy/node-http-handler'
import {
  createS3Transport,
  type S3Request,
  type S3Transport,
} from '../../src/object-store/s3-transport.ts'

/** The transports of the service as they are, with a look at each part on its way, and a hand in it. */
export function spyOnParts(change: (part: S3Request) => S3Request): S3Transport {
  const own = createS3Transport({})
  const sdks = new NodeHttpHandler()
  return {
    handle: (request, options = {}) => {
      if ('partNumber' in request.query) return own.handle(change(request), options)
      if (Array.isArray(request.body)) return own.handle(request, options)
      return sdks.handle(request as never, options as never)
    },
    destroy: () => {
      own.destroy?.()
      sdks.destroy()
    },
  }
}
