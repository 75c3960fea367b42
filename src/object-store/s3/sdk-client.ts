import {
  HeadBucketCommand,
  S3Client,
  type S3ClientConfig,
  S3ServiceException,
} from '@aws-sdk/client-s3'
import { type S3TransportOptions, TRANSPORT_DEFAULTS } from './transport.ts'

export interface S3Place {
  readonly region: string
  readonly endpoint?: string | undefined
  /** Puts the bucket in the path instead of the host name, as most servers other than AWS require. */
  readonly forcePathStyle?: boolean | undefined
  /** `undefined`: the AWS SDK finds them (environment, files, instance role). */
  readonly credentials?: { accessKeyId: string; secretAccessKey: string } | undefined
}

/** The transport limits apply to the SDK's transport and to ours separately. */
export interface S3ClientOptions extends S3TransportOptions, S3Place {
  readonly maxAttempts?: number | undefined
}

/** Limits only the time to connect, since a socket timeout would cut off slow readers. Callers bound each call. */
export function createS3Client(options: S3ClientOptions): S3Client {
  const { region, endpoint, credentials, maxSockets, connectionMs } = options
  const agent = { keepAlive: true, maxSockets: maxSockets ?? TRANSPORT_DEFAULTS.maxSockets }
  const connectionTimeout = connectionMs ?? TRANSPORT_DEFAULTS.connectionMs
  const transport = { connectionTimeout, httpAgent: agent, httpsAgent: agent }
  const client = new S3Client({
    region,
    ...(endpoint === undefined ? {} : { endpoint }),
    ...(credentials === undefined ? {} : { credentials }),
    forcePathStyle: options.forcePathStyle ?? false,
    // Several servers refuse the checksums that the SDK adds by default.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    maxAttempts: options.maxAttempts ?? 3,
    // It would cost a round trip per part and, with some agents, a new connection.
    expectContinueHeader: false,
    requestHandler: (options.requestHandler as Transport | undefined) ?? transport,
  })
  repeatWhenSkewEnds(client)
  return client
}

/**
 * The SDK learns the store's time from a refusal. If it then need not correct its own clock any more, it does not repeat
 * the request, so the first one after a skew would fail.
 */
function repeatWhenSkewEnds({ config, middlewareStack }: S3Client): void {
  middlewareStack.add(
    (next) => async (call) => {
      const before = config.systemClockOffset
      try {
        return await next(call)
      } catch (error) {
        const isRefused =
          error instanceof S3ServiceException && error.$metadata.httpStatusCode === 403
        const isCorrected = Math.abs(config.systemClockOffset - before) > MAX_SKEW_MS
        if (!isRefused || !isCorrected) throw error
        return await next(call)
      }
    },
    { step: 'initialize' },
  )
}

/** S3 accepts up to 15 minutes. */
export const MAX_SKEW_MS = 5 * 60_000

type Transport = NonNullable<S3ClientConfig['requestHandler']>

export interface S3Endpoint {
  readonly protocol: string
  readonly hostname: string
  readonly port?: number | undefined
  readonly path: string
}

/** Asks the SDK, which knows the rules of regions, endpoints and bucket addressing. Sends nothing. */
export async function resolveEndpoint(client: S3Client, bucket: string): Promise<S3Endpoint> {
  const command = new HeadBucketCommand({ Bucket: bucket })
  let located: S3Endpoint | undefined
  command.middlewareStack.add(
    () =>
      async ({ request }) => {
        const { protocol, hostname, port, path } = request as S3Endpoint
        located = { protocol, hostname, port, path: path.endsWith('/') ? path : `${path}/` }
        return { response: {}, output: { $metadata: {} } }
      },
    { step: 'build', priority: 'high' },
  )
  await client.send(command)
  if (located === undefined) throw new Error(`The SDK did not resolve the endpoint of ${bucket}`)
  return located
}
