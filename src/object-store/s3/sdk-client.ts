import { Agent as HttpAgent } from 'node:http'
import { Agent as HttpsAgent } from 'node:https'
import { HeadBucketCommand, S3Client, type S3ClientConfig } from '@aws-sdk/client-s3'
import { NodeHttpHandler } from '@smithy/node-http-handler'
import { type S3TransportOptions, TRANSPORT_DEFAULTS } from './transport.ts'

/** The limits of the transport count for the SDK's and for our own, each by itself. */
export interface S3ClientOptions extends Omit<S3TransportOptions, 'keepAlive'> {
  readonly region: string
  /** Base URL of a server other than AWS. */
  readonly endpoint?: string | undefined
  /** Whether the bucket is in the path instead of the host name; most servers other than AWS want it. */
  readonly forcePathStyle?: boolean | undefined
  /** Left out, the AWS SDK looks for them (environment, files, instance role). */
  readonly credentials?: { accessKeyId: string; secretAccessKey: string } | undefined
  /** How often one request is tried, 3 by default. */
  readonly maxAttempts?: number | undefined
}

/**
 * Returns a client that keeps its connections and sets no time limit of its own beyond connecting: neither a
 * request's nor a socket's, for the latter would also cut off a slow reader. Callers bound each call.
 */
export function createS3Client(options: S3ClientOptions): S3Client {
  const { region, endpoint, credentials, maxSockets, connectionMs } = options
  const agent = { keepAlive: true, maxSockets: maxSockets ?? TRANSPORT_DEFAULTS.maxSockets }
  const transport = (): NodeHttpHandler =>
    new NodeHttpHandler({
      connectionTimeout: connectionMs ?? TRANSPORT_DEFAULTS.connectionMs,
      httpAgent: new HttpAgent(agent),
      httpsAgent: new HttpsAgent(agent),
    })
  return new S3Client({
    region,
    ...(endpoint === undefined ? {} : { endpoint }),
    ...(credentials === undefined ? {} : { credentials }),
    forcePathStyle: options.forcePathStyle ?? false,
    // Several servers refuse those that it would add by itself.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    maxAttempts: options.maxAttempts ?? 3,
    // It would cost a round trip, and with some agents a new connection, for every part.
    expectContinueHeader: false,
    requestHandler: (options.requestHandler as Transport | undefined) ?? transport(),
  })
}

type Transport = NonNullable<S3ClientConfig['requestHandler']>

/** Where a bucket is: what its requests have in common. */
export interface S3Endpoint {
  readonly protocol: string
  readonly hostname: string
  readonly port?: number | undefined
  /** What stands before the key, with a slash at its end. */
  readonly path: string
}

/** Asks the SDK, whose rules know regions, end points, and buckets in the path or in the host name. Sends nothing. */
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
  if (located === undefined) throw new Error(`The SDK does not say where the bucket ${bucket} is`)
  return located
}
