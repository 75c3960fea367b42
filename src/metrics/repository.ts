import { Counter, Gauge, type Registry } from '@prometheus-io/client'
import { isAppError } from '../core/errors.ts'
import { MissingObject, type Repository } from '../core/files/repository.ts'

/** Counts what becomes of contents. */
export function meterRepository({
  registry,
  repository,
}: {
  readonly registry: Registry
  readonly repository: Repository
}): Repository {
  const registers = [registry]
  const running = new Gauge({
    name: 'cloud_repository_uploads_running',
    help: 'Uploads under way on this instance, those that wait for memory among them.',
    registers,
  })
  const bytes = new Counter({
    name: 'cloud_repository_uploaded_bytes_total',
    help: 'Bytes of the files that uploads have made.',
    registers,
  })
  const lost = new Counter({
    name: 'cloud_repository_lost_contents_total',
    help: 'Downloads of a file whose object stays missing or is of another size: data is lost, or the object store is not whole.',
    registers,
  })
  return {
    ...repository,
    async upload(upload) {
      running.inc()
      try {
        const committed = await repository.upload(upload)
        bytes.inc(committed.file.size)
        return committed
      } finally {
        running.dec()
      }
    },
    async open(file) {
      try {
        return await repository.open(file)
      } catch (error) {
        if (isLoss(error)) lost.inc()
        throw error
      }
    },
  }
}

/** Whether an object is of another size than the books say, or the store keeps denying that there is one. */
function isLoss(error: unknown): boolean {
  if (!isAppError(error)) return false
  return error.code === 'internal_error' || error.cause instanceof MissingObject
}
