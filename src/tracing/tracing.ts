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
import { type BeginRequest, requestSpans } from './request-spans.ts'
import { createSpans } from './spans.ts'
import { createPortTraces, type PortTraces, type TracedPlaces } from './port-traces.ts'

export interface TracingOptions {
  readonly protocol: 'http/protobuf' | 'http/json'
  readonly sampler: {
    readonly root: 'always_on' | 'always_off' | 'traceidratio'
    /** The share of traces that `traceidratio` takes, from 0 to 1. */
    readonly ratio: number
    /** Whether a request that names its trace is taken when the trace is. */
    readonly isParentBased: boolean
  }
  /** Times in milliseconds. */
  readonly batches: {
    readonly scheduledDelayMillis: number
    readonly exportTimeoutMillis: number
    readonly maxQueueSize: number
    readonly maxExportBatchSize: number
  }
  /** Pairs such as `key=value`, beside those of the environment. */
  readonly headers: string | undefined
  /** Is told of what could not be sent. */
  readonly warn: (error: unknown, message: string) => void
}

/** Spans of requests and of what they ask of database and object store. */
export interface Tracing {
  readonly begin: BeginRequest
  /** What makes spans of the calls of ports, under the span of the request that makes them. */
  tracePorts(places: TracedPlaces): PortTraces
  /** Sends what has ended, unless that takes longer than a second. Never rejects. Later spans are lost. */
  close(): Promise<void>
}

/**
 * Traces by OpenTelemetry's SDK, which reads from `OTEL_*` where they go and what the service is called. Spans are sent in
 * batches beside the requests; what nobody takes is given up, and beyond the queue dropped. Once in a process, since its
 * errors are told to one handler.
 */
export async function openTracing(options: TracingOptions): Promise<Tracing> {
  const { sampler, batches, warn } = options
  setGlobalErrorHandler((error) => warn(error, 'spans were not sent'))
  const say = (message: string): void => warn(undefined, message)
  const logger = { error: say, warn: say, info: say, debug: say, verbose: say }
  diag.setLogger(logger, { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true })
  const processor = new BatchSpanProcessor({ exporter: await openExporter(options), ...batches })
  const provider = new TracerProvider({
    resource: describeService(),
    sampler: createSampler(sampler),
    spanProcessors: [processor],
  })
  const spans = createSpans(provider.getTracer('cloud-repository'))
  return {
    begin: requestSpans(spans),
    tracePorts: (places) => createPortTraces(spans, places),
    async close() {
      const sent = provider.shutdown().catch((error: unknown) => warn(error, 'spans were not sent'))
      await Promise.race([sent, delay(LAST_SPANS_MS)])
    },
  }
}

const LAST_SPANS_MS = 1_000

function createSampler({ root, ratio, isParentBased }: TracingOptions['sampler']): Sampler {
  const samplers = {
    always_on: () => new AlwaysOnSampler(),
    always_off: () => new AlwaysOffSampler(),
    traceidratio: () => new TraceIdRatioBasedSampler(ratio),
  }
  const sampler = samplers[root]()
  return isParentBased ? new ParentBasedSampler({ root: sampler }) : sampler
}

async function openExporter({ protocol, headers }: TracingOptions): Promise<SpanExporter> {
  const { OTLPTraceExporter } =
    protocol === 'http/json'
      ? await import('@opentelemetry/exporter-trace-otlp-http')
      : await import('@opentelemetry/exporter-trace-otlp-proto')
  return new OTLPTraceExporter({ headers: parseKeyPairsIntoRecord(headers) })
}

/** No attribute of the machine or the process but a random id of the instance: nobody asked for those. */
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
