import { AppError } from '../../core/errors.ts'
import type { BodyCheck } from './request-body.ts'

/** Refuses a body of more than `maxBytes` bytes with `format_error`, and takes any other. */
export function atMost(maxBytes: number): BodyCheck {
  let bytes = 0
  return {
    write(chunk, content) {
      bytes += chunk.length
      if (bytes > maxBytes) throw new AppError('format_error', 'The body is too large.')
      content.push(chunk)
    },
    end: () => {},
  }
}
