import { describe, expect, it } from 'vitest'
import { ConfigError, readConfig } from '../../src/config/config.ts'

const ENDPOINT = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318' }

function faulty(environment: Readonly<Record<string, string>>): string[] {
  try {
    readConfig(environment)
    return []
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    return error.message.split('\n').flatMap((line) => /^ {2}(\w+): /.exec(line)?.[1] ?? [])
  }
}

describe('the settings of traces', () => {
  it.each([
    {},
    { OTEL_SERVICE_NAME: 'files' },
    { OTEL_TRACES_SAMPLER: 'always_on' },
    { ...ENDPOINT, OTEL_TRACES_EXPORTER: 'none' },
    { ...ENDPOINT, OTEL_SDK_DISABLED: 'TRUE' },
  ])('ask for none with %j', (environment) => {
    expect(readConfig(environment).traces).toBeUndefined()
  })

  it.each([
    ENDPOINT,
    { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://collector.example/v1/traces' },
    { OTEL_TRACES_EXPORTER: 'otlp' },
    { ...ENDPOINT, OTEL_SDK_DISABLED: 'false' },
  ])('ask for them with %j', (environment) => {
    expect(readConfig(environment).traces).toEqual({
      protocol: 'http/protobuf',
      sampler: { root: 'always_on', isParentBased: true, ratio: 1 },
      batches: {
        scheduledDelayMillis: 5000,
        exportTimeoutMillis: 30_000,
        maxQueueSize: 2048,
        maxExportBatchSize: 512,
      },
      headers: undefined,
    })
  })

  it('settings of traces alone win over those of all signals', () => {
    const all = { OTEL_EXPORTER_OTLP_PROTOCOL: 'http/protobuf' }
    const own = { OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: 'http/json' }
    expect(readConfig({ ...ENDPOINT, ...all, ...own }).traces?.protocol).toBe('http/json')
  })

  it.each([
    ['always_off', '', { root: 'always_off', isParentBased: false }],
    ['traceidratio', '.25', { root: 'traceidratio', isParentBased: false, ratio: 0.25 }],
    ['parentbased_traceidratio', '0', { root: 'traceidratio', isParentBased: true, ratio: 0 }],
  ])('have the sampler %s with "%s"', (name, argument, sampler) => {
    const settings = { OTEL_TRACES_SAMPLER: name, OTEL_TRACES_SAMPLER_ARG: argument }
    expect(readConfig({ ...ENDPOINT, ...settings }).traces?.sampler).toMatchObject(sampler)
  })

  it.each([
    ['OTEL_EXPORTER_OTLP_ENDPOINT', ['collector:4318', 'grpc://collector:4317']],
    ['OTEL_EXPORTER_OTLP_PROTOCOL', ['grpc', 'http']],
    ['OTEL_TRACES_EXPORTER', ['console', 'zipkin', 'otlp,console']],
    ['OTEL_TRACES_SAMPLER', ['jaeger_remote', 'on', 'parentbased_parentbased_always_on']],
    ['OTEL_TRACES_SAMPLER_ARG', ['1.1', '-0.1', 'half', '1e-1']],
    ['OTEL_SDK_DISABLED', ['yes', '1']],
    ['OTEL_BSP_SCHEDULE_DELAY', ['0', '5s']],
  ])('the setting %s refuses %j', (name, texts) => {
    expect(texts.filter((text) => faulty({ [name]: text })[0] !== name)).toEqual([])
  })
})
