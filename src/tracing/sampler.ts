import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  ParentBasedSampler,
  type Sampler,
  TraceIdRatioBasedSampler,
} from '@opentelemetry/sdk-trace'

export interface SamplerOptions {
  readonly root: 'always_on' | 'always_off' | 'traceidratio'
  /** The share of traces that `traceidratio` takes, from 0 to 1. */
  readonly ratio: number
  /** Whether a request that names its trace is taken when the trace is. */
  readonly isParentBased: boolean
}

export function createSampler({ root, ratio, isParentBased }: SamplerOptions): Sampler {
  const sampler = rootSampler(root, ratio)
  return isParentBased ? new ParentBasedSampler({ root: sampler }) : sampler
}

function rootSampler(root: SamplerOptions['root'], ratio: number): Sampler {
  switch (root) {
    case 'always_on':
      return new AlwaysOnSampler()
    case 'always_off':
      return new AlwaysOffSampler()
    case 'traceidratio':
      return new TraceIdRatioBasedSampler(ratio)
  }
}
