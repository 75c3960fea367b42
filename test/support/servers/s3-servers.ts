import { garageProgram, startGarage } from './garage.ts'
import { minioProgram, startMinio } from './minio.ts'
import type { S3Program, S3Server, Unavailable } from './s3-server.ts'
import { seaweedfsProgram, startSeaweedfs } from './seaweedfs.ts'
import { startVersitygw, versitygwProgram } from './versitygw.ts'

/** An S3 server that tests can run on. */
export interface KnownS3Server {
  readonly title: string
  readonly start: () => Promise<S3Server | Unavailable>
  readonly program: () => Promise<S3Program>
  /** Whether an upload can be completed of the parts that were confirmed, also after others have replaced them. */
  readonly keepsReplacedParts: boolean
  /** Whether it has synced what it wrote for an object when it confirms it. */
  readonly syncs: boolean
}

export const S3_SERVERS = {
  minio: {
    title: 'MinIO',
    start: startMinio,
    program: minioProgram,
    keepsReplacedParts: false,
    syncs: true,
  },
  versitygw: {
    title: 'versitygw',
    start: startVersitygw,
    program: versitygwProgram,
    keepsReplacedParts: false,
    syncs: false,
  },
  seaweedfs: {
    title: 'SeaweedFS',
    start: startSeaweedfs,
    program: seaweedfsProgram,
    keepsReplacedParts: true,
    syncs: true,
  },
  garage: {
    title: 'Garage',
    start: startGarage,
    program: garageProgram,
    keepsReplacedParts: false,
    syncs: false,
  },
} as const satisfies Record<string, KnownS3Server>

/** The one that TEST_S3_SERVER names, on which all tests of S3 run: MinIO if it names none. */
export function chosenS3Server(): KnownS3Server {
  const name = process.env['TEST_S3_SERVER'] ?? 'minio'
  const chosen = new Map<string, KnownS3Server>(Object.entries(S3_SERVERS)).get(name)
  if (chosen !== undefined) return chosen
  throw new Error(`TEST_S3_SERVER is none of ${Object.keys(S3_SERVERS).join(', ')}`)
}
