import { AppError, type AppErrorOptions } from '../errors.ts'
import type { ErrorCode } from '../error-codes.ts'

/** An error as plain data. Structured clone would lose the class `AppError` and a driver's own properties. */
export interface SerializedError {
  readonly name: string
  readonly message: string
  readonly stack: string | undefined
  readonly app:
    | (Pick<AppErrorOptions, 'facts' | 'dependency' | 'isFull'> & { readonly code: ErrorCode })
    | undefined
  readonly details: Readonly<Record<string, string | number | boolean>>
  readonly cause: SerializedError | undefined
}

export function serializeError(error: unknown): SerializedError {
  if (!(error instanceof Error)) return serializeError(new Error(String(error)))
  const { name, message, stack, cause } = error
  return {
    name,
    message,
    stack,
    app: error instanceof AppError ? packApp(error) : undefined,
    details: Object.fromEntries(Object.entries(error).filter(isPlain)),
    cause: cause === undefined ? undefined : serializeError(cause),
  }
}

export function deserializeError(packed: SerializedError): Error {
  const { name, message, stack, app, details } = packed
  const cause = packed.cause && deserializeError(packed.cause)
  const error = app
    ? new AppError(app.code, message, { ...app, cause })
    : new Error(message, cause && { cause })
  return Object.assign(error, details, { name }, stack !== undefined && { stack })
}

function packApp({
  code,
  facts,
  dependency,
  isFull,
}: AppError): NonNullable<SerializedError['app']> {
  return { code, facts, dependency, isFull }
}

function isPlain(entry: [string, unknown]): entry is [string, string | number | boolean] {
  return ['string', 'number', 'boolean'].includes(typeof entry[1])
}
