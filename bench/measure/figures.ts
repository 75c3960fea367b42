import { type Spread, spreadOf } from './statistics.ts'

/** What is known of one measurement; a process whose CPU cannot be read has none. */
export type Figures = Readonly<Partial<Record<FigureName, number>>>

/** As the JSON has them. CPU times are user and system time of all threads. */
export type FigureName =
  | 'per_second'
  | 'mib_per_second'
  | 'seconds'
  | 'p50_ms'
  | 'p99_ms'
  | `${ProcessName}_cpu_ms`
  | `${ProcessName}_cpu_s_per_gib`
  | 'object_store_requests'
  | 'syncs'
  | 'sha256_ms'
  | 'generator_cpu_share'
  | 'peak_rss_mib'
  | 'idle_rss_mib'
  | 'start_s'

export type ProcessName = 'service' | 'object_store' | 'database' | 'nginx' | 'peer'

export type Spreads = Readonly<Partial<Record<FigureName, Spread>>>

/** The spread of each figure over the rounds that have it. */
export function spreadsOf(rounds: readonly Figures[]): Spreads {
  const names = new Set(rounds.flatMap((figures) => Object.keys(figures) as FigureName[]))
  const spreads: Partial<Record<FigureName, Spread>> = {}
  for (const name of names) {
    const values = rounds.map((figures) => figures[name]).filter((value) => value !== undefined)
    const spread = spreadOf(values)
    if (spread !== undefined) spreads[name] = spread
  }
  return spreads
}
