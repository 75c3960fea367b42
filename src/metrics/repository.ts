import { Counter, Gauge, type Registry } from 'prom-client'
import { isAppError } from '../core/errors.ts'
import type { Repository } from '../core/repository.ts'

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
    help: 'Downloads of a file whose object is missing or of another size: data is lost.',
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
        if (isAppError(error, 'internal_error')) lost.inc()
        throw error
      }
    },
  }
}
