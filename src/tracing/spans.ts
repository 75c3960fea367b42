import { AsyncLocalStorage } from 'node:async_hooks'
import {
  type Attributes,
  type Context,
  ROOT_CONTEXT,
  type Span,
  type SpanKind,
  SpanStatusCode,
  trace,
  type Tracer,
} from '@opentelemetry/api'
import { isAppError } from '../core/errors.ts'

export interface SpanStart {
  readonly name: string
  readonly kind: SpanKind
  readonly attributes: Attributes
}

export type Spans = ReturnType<typeof createSpans>

/** `AsyncLocalStorage` keeps tracing out of `core`. Work outside requests has no spans: one trace per statement. */
export function createSpans(tracer: Tracer) {
  const active = new AsyncLocalStorage<Span>()
  const begin = ({ name, kind, attributes }: SpanStart, parent: Context): Span =>
    tracer.startSpan(name, { kind, attributes }, parent)
  return {
    /** The caller ends the span. */
    begin,
    /** Runs `work` with the span active, also in callbacks that it registers. */
    within: <T>(span: Span, work: () => T): T => active.run(span, work),
    /** Runs `work` in a child span, or in none if no recording span is active. */
    async follow<T>(start: SpanStart, work: (span: Span | undefined) => Promise<T>): Promise<T> {
      const parent = active.getStore()
      if (parent?.isRecording() !== true) return await work(undefined)
      const span = begin(start, trace.setSpan(ROOT_CONTEXT, parent))
      try {
        return await active.run(span, () => work(span))
      } catch (error) {
        noteError(span, error)
        throw error
      } finally {
        span.end()
      }
    },
  }
}

/** A refusal is no failure. The kind of an error is recorded, never its message. */
function noteError(span: Span, error: unknown): void {
  if (isAppError(error) && error.code !== 'unavailable' && error.code !== 'internal_error') {
    span.setAttribute('cloud_repository.code', error.code)
    return
  }
  const type = kindOf(isAppError(error) ? (error.cause ?? error) : error)
  span.setAttribute('error.type', type).setStatus({ code: SpanStatusCode.ERROR })
  if (SQLSTATE.test(type)) span.setAttribute('db.response.status_code', type)
}

const SQLSTATE = /^[0-9A-Z]{5}$/
const WORD = /^[\w.:-]{1,64}$/

/** The code of driver and Node errors (`ECONNREFUSED`, `57P01`), otherwise the class name. */
function kindOf(error: unknown): string {
  if (!(error instanceof Error)) return '_OTHER'
  return 'code' in error && typeof error.code === 'string' && WORD.test(error.code)
    ? error.code
    : error.name
}
