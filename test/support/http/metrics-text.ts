/** A metric as Prometheus' text format has it. */
export interface ExposedMetric {
  readonly name: string
  readonly type: string
  /** Those of its samples, without a histogram's `le` and a summary's `quantile`. */
  readonly labels: readonly string[]
  /** Of a histogram those of its buckets, sum and count. */
  readonly series: readonly string[]
}

/** Reads an answer of `/metrics`. */
export function parseMetrics(text: string): readonly ExposedMetric[] {
  return text
    .split(/^(?=# HELP )/m)
    .filter((block) => block.trim() !== '')
    .map((block) => {
      const [, name = '', type = ''] = /^# TYPE (\S+) (\S+)$/m.exec(block) ?? []
      const samples = block.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
      const series = samples.map((line) => line.slice(0, line.lastIndexOf(' ')))
      const labels = new Set(series.flatMap(labelsOf))
      labels.delete('le')
      labels.delete('quantile')
      return { name, type, labels: [...labels].sort(), series }
    })
}

function labelsOf(series: string): string[] {
  return [...series.matchAll(/[{,]([a-z_]+)="/g)].map(([, label = '']) => label)
}

/** The value of a sample, named with its labels. */
export function sampleOf(text: string, name: string): number | undefined {
  const line = text.split('\n').find((line) => line.startsWith(`${name} `))
  return line === undefined ? undefined : Number(line.slice(name.length + 1))
}
