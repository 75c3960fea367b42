import type { TraceSettings } from '../tracing/tracing.ts'
import type { Reader } from './reader.ts'
import { parseOneOf, parsePositiveCount } from './parsers.ts'
import { parseUrl } from './urls.ts'

/**
 * Reads OpenTelemetry's standard variables; OpenTelemetry reads the other `OTEL_*` itself. Returns `undefined` unless
 * an exporter or its endpoint is named.
 */
export function readTraces({ shown, shownUrl, optional }: Reader): TraceSettings | undefined {
  const isDisabled = shown('OTEL_SDK_DISABLED', 'false', parseSwitch)
  const endpoints = ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'OTEL_EXPORTER_OTLP_ENDPOINT']
  const isAddressed = endpoints.filter((name) => shownUrl(name, '', parseUrl) !== undefined)
  const fallback = isAddressed.length > 0 ? 'otlp' : 'none'
  const exporter = shown('OTEL_TRACES_EXPORTER', fallback, parseExporter)
  const common = shown('OTEL_EXPORTER_OTLP_PROTOCOL', 'http/protobuf', parseProtocol)
  // Read here because headers can be secret, so `_FILE` must work.
  const [ofTraces, ofAll] = ['OTEL_EXPORTER_OTLP_TRACES_HEADERS', 'OTEL_EXPORTER_OTLP_HEADERS'].map(
    optional,
  )
  const config = {
    protocol: shown('OTEL_EXPORTER_OTLP_TRACES_PROTOCOL', common, parseProtocol),
    sampler: readSampler(shown),
    batches: {
      scheduledDelayMillis: shown('OTEL_BSP_SCHEDULE_DELAY', '5000', parsePositiveCount),
      exportTimeoutMillis: shown('OTEL_BSP_EXPORT_TIMEOUT', '30000', parsePositiveCount),
      maxQueueSize: shown('OTEL_BSP_MAX_QUEUE_SIZE', '2048', parsePositiveCount),
      maxExportBatchSize: shown('OTEL_BSP_MAX_EXPORT_BATCH_SIZE', '512', parsePositiveCount),
    },
    headers: ofTraces ?? ofAll,
  }
  return isDisabled || exporter === 'none' ? undefined : config
}

function readSampler(shown: Reader['shown']): TraceSettings['sampler'] {
  const name = shown('OTEL_TRACES_SAMPLER', 'parentbased_always_on', parseSampler)
  const isParentBased = name.startsWith('parentbased_')
  const root = parseOneOf(ROOTS, name.replace('parentbased_', ''))
  return { root, isParentBased, ratio: shown('OTEL_TRACES_SAMPLER_ARG', '1', parseRatio) }
}

const ROOTS = ['always_on', 'always_off', 'traceidratio'] as const

const parseSampler = (text: string): string =>
  parseOneOf([...ROOTS, ...ROOTS.map((root) => `parentbased_${root}`)], text)

const parseExporter = (text: string): 'otlp' | 'none' => parseOneOf(['otlp', 'none'], text)

const parseProtocol = (text: string): TraceSettings['protocol'] =>
  parseOneOf(['http/protobuf', 'http/json'], text)

/** In any case, as the specification requires. */
const parseSwitch = (text: string): boolean =>
  parseOneOf(['true', 'false'], text.toLowerCase()) === 'true'

function parseRatio(text: string): number {
  const ratio = Number(text)
  if (/^(?:\d+(?:\.\d+)?|\.\d+)$/.test(text) && ratio <= 1) return ratio
  throw new Error('must be a number from 0 to 1')
}
