import { setTimeout as delay } from 'node:timers/promises'
import { diag, DiagLogLevel } from '@opentelemetry/api'
import { parseKeyPairsIntoRecord, setGlobalErrorHandler } from '@opentelemetry/core'
import {
  defaultResource,
  detectResources,
  type Resource,
  resourceAttributesEnvDetector,
  resourceFromAttributes,
  serviceInstanceIdDetector,
  serviceNameEnvDetector,
} from '@opentelemetry/resources'
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type Sampler,
  type SpanExporter,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace'
import { requestSpans } from './request-spans.ts'
import { createSpans } from './spans.ts'
import { createPortTraces, type PortTraces, type TracedPlaces } from './port-traces.ts'

export interface TraceSettings {
  readonly protocol: 'http/protobuf' | 'http/json'
  readonly sampler: {
    readonly root: 'always_on' | 'always_off' | 'traceidratio'
    /** For `traceidratio`, from 0 to 1. */
    readonly ratio: number
    /** Whether a request in a trace follows that trace's sampling. */
    readonly isParentBased: boolean
  }
  readonly batches: {
    readonly scheduledDelayMillis: number
    readonly exportTimeoutMillis: number
    readonly maxQueueSize: number
    readonly maxExportBatchSize: number
  }
  readonly headers: string | undefined
}

export type Tracing = Awaited<ReturnType<typeof openTracing>>

/**
 * Reads endpoint and service name from `OTEL_*`. Spans are sent in background batches; failed batches and spans beyond
 * the queue are dropped. Once per process: the SDK's error handler is global.
 */
export async function openTracing(
  { protocol, sampler, batches, headers }: TraceSettings,
  warn: (error: unknown, message: string) => void,
) {
  setGlobalErrorHandler((error) => warn(error, 'exporting spans failed'))
  const say = (message: string): void => warn(undefined, message)
  const logger = { error: say, warn: say, info: say, debug: say, verbose: say }
  diag.setLogger(logger, { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true })
  const exporter = await openExporter(protocol, headers)
  const processor = new BatchSpanProcessor({ exporter, ...batches })
  const provider = new TracerProvider({
    resource: describeService(),
    sampler: createSampler(sampler),
    spanProcessors: [processor],
  })
  const spans = createSpans(provider.getTracer('cloud-repository'))
  return {
    begin: requestSpans(spans),
    tracePorts: (places: TracedPlaces): PortTraces => createPortTraces(spans, places),
    /** Sends ended spans for at most a second. Never rejects. Later spans are lost. */
    async close(): Promise<void> {
      const sent = provider
        .shutdown()
        .catch((error: unknown) => warn(error, 'exporting spans failed'))
      await Promise.race([sent, delay(LAST_SPANS_MS)])
    },
  }
}

const LAST_SPANS_MS = 1_000

function createSampler({ root, ratio, isParentBased }: TraceSettings['sampler']): Sampler {
  const samplers = {
    always_on: () => new AlwaysOnSampler(),
    always_off: () => new AlwaysOffSampler(),
    traceidratio: () => new TraceIdRatioBasedSampler(ratio),
  }
  const sampler = samplers[root]()
  return isParentBased ? new ParentBasedSampler({ root: sampler }) : sampler
}

async function openExporter(
  protocol: TraceSettings['protocol'],
  headers: string | undefined,
): Promise<SpanExporter> {
  const { OTLPTraceExporter } =
    protocol === 'http/json'
      ? await import('@opentelemetry/exporter-trace-otlp-http')
      : await import('@opentelemetry/exporter-trace-otlp-proto')
  return new OTLPTraceExporter({ headers: parseKeyPairsIntoRecord(headers) })
}

/** Only a random instance id: no attributes of the machine or the process. */
function describeService(): Resource {
  const detectors = [
    serviceInstanceIdDetector,
    resourceAttributesEnvDetector,
    serviceNameEnvDetector,
  ]
  return defaultResource()
    .merge(resourceFromAttributes({ 'service.name': 'cloud-repository' }))
    .merge(detectResources({ detectors }))
}
