import { garageProgram } from './garage.ts'
import { minioProgram, startMinioImage } from './minio.ts'
import type { WantedS3Server } from './s3-server.ts'
import { seaweedfsProgram } from './seaweedfs.ts'
import { versitygwProgram } from './versitygw.ts'

/** An S3 server that tests can run on. */
export interface KnownS3Server extends WantedS3Server {
  /** Whether an upload can be completed of the parts that were confirmed, also after others have replaced them. */
  readonly keepsReplacedParts: boolean
  /** Whether it has synced what it wrote for an object when it confirms it. */
  readonly syncs: boolean
}

export const S3_SERVERS = {
  minio: {
    title: 'MinIO',
    variables: 'TEST_S3',
    startImage: startMinioImage,
    program: minioProgram,
    keepsReplacedParts: false,
    syncs: true,
  },
  versitygw: {
    title: 'versitygw',
    variables: 'TEST_VERSITYGW',
    program: versitygwProgram,
    keepsReplacedParts: false,
    syncs: false,
  },
  seaweedfs: {
    title: 'SeaweedFS',
    variables: 'TEST_SEAWEEDFS',
    program: seaweedfsProgram,
    keepsReplacedParts: true,
    syncs: true,
  },
  garage: {
    title: 'Garage',
    variables: 'TEST_GARAGE',
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
