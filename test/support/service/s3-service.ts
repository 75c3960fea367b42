import { join } from 'node:path'
import { createMemoryFolder } from '../servers/local-server.ts'
import type { S3Address } from '../servers/s3-server.ts'
import { writeMigratedFile } from './migrated-file.ts'
import { s3Settings } from './s3-settings.ts'
import { freshBucket, removeBucket } from './test-bucket.ts'
import {
  openIn,
  openTwinsIn,
  type TestPlace,
  type TestService,
  type TestServiceOptions,
  type TwinServices,
} from './test-service.ts'

/** A service on a new SQLite database and a new bucket of that server, both of which its end removes. */
export async function openOnS3(
  address: S3Address | undefined,
  options?: TestServiceOptions,
): Promise<TestService> {
  return openIn(await createPlace(address), options)
}

export interface Redirecting extends TestServiceOptions {
  readonly aboveBytes: number
  readonly endpoint?: string | undefined
}

/** Such a service, which redirects downloads of more than so many bytes. */
export async function openRedirecting(
  address: S3Address | undefined,
  { aboveBytes, endpoint, ...options }: Redirecting,
): Promise<TestService> {
  const place = await createPlace(address)
  const redirect = redirectSettings(address, { aboveBytes, endpoint })
  return openIn({ ...place, environment: { ...place.environment, ...redirect } }, options)
}

/** With another host name than the services of the tests have. */
export function publicEndpoint(address: S3Address | undefined): string | undefined {
  return address?.endpoint.replace('127.0.0.1', 'localhost')
}

export function redirectSettings(
  address: S3Address | undefined,
  { aboveBytes, endpoint = publicEndpoint(address) }: Redirecting,
): Readonly<Record<string, string>> {
  return { DOWNLOAD_REDIRECT_ABOVE: `${aboveBytes}`, S3_PUBLIC_ENDPOINT: endpoint ?? '' }
}

/** Two instances of such a service. */
export async function openTwinsOnS3(address: S3Address | undefined): Promise<TwinServices> {
  return openTwinsIn(await createPlace(address))
}

async function createPlace(address: S3Address | undefined): Promise<TestPlace> {
  const folder = await createMemoryFolder('service')
  await writeMigratedFile(join(folder.path, 'database.sqlite'))
  const bucket = freshBucket(address)
  return {
    environment: { DATA_DIR: folder.path, ...s3Settings(bucket) },
    async remove() {
      await removeBucket(bucket)
      await folder.remove()
    },
  }
}
