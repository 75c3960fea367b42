import { Agent as HttpAgent } from 'node:http'
import { Agent as HttpsAgent } from 'node:https'
import { S3Client, type S3ClientConfig } from '@aws-sdk/client-s3'
import { NodeHttpHandler } from '@smithy/node-http-handler'

export interface S3ClientOptions {
  readonly region: string
  /** Base URL of a server other than AWS. */
  readonly endpoint?: string | undefined
  /** Whether the bucket is in the path instead of the host name; most servers other than AWS want it. */
  readonly forcePathStyle?: boolean | undefined
  /** Left out, the AWS SDK looks for them (environment, files, instance role). */
  readonly credentials?: { accessKeyId: string; secretAccessKey: string } | undefined
  /** Whether the SDK adds its own checksums; several servers refuse them, hence `WHEN_REQUIRED` by default. */
  readonly checksums?: 'WHEN_REQUIRED' | 'WHEN_SUPPORTED' | undefined
  /** Sockets to one host, 200 by default. */
  readonly maxSockets?: number | undefined
  /** Whether connections are kept for further requests, as by default. */
  readonly keepAlive?: boolean | undefined
  /** Time to get a connected socket, 10 s by default, waiting for a free one included. */
  readonly connectionMs?: number | undefined
  /** How often the SDK tries one request, 3 by default. */
  readonly maxAttempts?: number | undefined
  /** Replaces the SDK's transport. */
  readonly requestHandler?: NonNullable<S3ClientConfig['requestHandler']> | undefined
}

/**
 * Returns a client that sets no time limit of its own beyond connecting: neither a
 * request's nor a socket's, for the latter would also cut off a slow reader. Callers bound each call.
 */
export function createS3Client(options: S3ClientOptions): S3Client {
  const { region, endpoint, credentials, checksums = 'WHEN_REQUIRED' } = options
  return new S3Client({
    region,
    ...(endpoint === undefined ? {} : { endpoint }),
    ...(credentials === undefined ? {} : { credentials }),
    forcePathStyle: options.forcePathStyle ?? false,
    requestChecksumCalculation: checksums,
    responseChecksumValidation: checksums,
    maxAttempts: options.maxAttempts ?? 3,
    // It would cost a round trip, and with some agents a new connection, for every part.
    expectContinueHeader: false,
    requestHandler: options.requestHandler ?? createTransport(options),
  })
}

function createTransport(options: S3ClientOptions): NodeHttpHandler {
  const { keepAlive = true, maxSockets = 200, connectionMs = 10_000 } = options
  const agent = { keepAlive, maxSockets }
  return new NodeHttpHandler({
    connectionTimeout: connectionMs,
    httpAgent: new HttpAgent(agent),
    httpsAgent: new HttpsAgent(agent),
  })
}
