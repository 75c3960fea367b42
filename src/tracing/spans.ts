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

/** Spans of one tracer, each under the one in whose work it begins. */
export interface Spans {
  /** Begins a span under `parent`. Whoever does ends it. */
  begin(start: SpanStart, parent: Context): Span
  /** Runs `work`; what begins in it, also later and by way of callbacks that it registers, is under the span. */
  within<T>(span: Span, work: () => T): T
  /** Runs `work` as a span of its own, or as it is where there is no span to be under that anyone will see. */
  follow<T>(start: SpanStart, work: (span: Span | undefined) => Promise<T>): Promise<T>
}

/**
 * The span in whose work we are is found by an `AsyncLocalStorage`, so that nothing of it goes through `core`. Work that
 * belongs to no request (sweeps, and what is shared every second) makes none: each would be a trace of one statement.
 */
export function createSpans(tracer: Tracer): Spans {
  const active = new AsyncLocalStorage<Span>()
  const begin: Spans['begin'] = ({ name, kind, attributes }, parent) =>
    tracer.startSpan(name, { kind, attributes }, parent)
  return {
    begin,
    within: (span, work) => active.run(span, work),
    async follow(start, work) {
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

/** What was refused on purpose is no failure of the call. Of errors the kind is told, and never the message. */
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

/** Of drivers and of Node the code (`ECONNREFUSED`, `57P01`), else the name of its class. */
function kindOf(error: unknown): string {
  if (!(error instanceof Error)) return '_OTHER'
  return 'code' in error && typeof error.code === 'string' && WORD.test(error.code)
    ? error.code
    : error.name
}
