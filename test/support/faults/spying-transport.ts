import { NodeHttpHandler } from '@smithy/node-http-handler'
import {
  createS3Transport,
  type S3Request,
  type S3Transport,
} from '../../../src/object-store/s3/transport.ts'
import type { FakeResponse } from './s3-faults.ts'

/**
 * The transports of the service as they are, with a look at each part on its way, and a hand in it; what `refuse`
 * answers never gets there.
 */
export function spyOnParts(
  change: (part: S3Request) => S3Request,
  refuse: (request: S3Request) => FakeResponse | undefined = () => undefined,
): S3Transport {
  const own = createS3Transport({})
  const sdks = new NodeHttpHandler()
  return {
    handle: async (request, options = {}) => {
      const refusal = refuse(request)
      if (refusal !== undefined) return { response: refusal }
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
