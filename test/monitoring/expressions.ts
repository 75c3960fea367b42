import { readFile } from 'node:fs/promises'

interface Dashboard {
  readonly panels: readonly { readonly targets?: readonly { readonly expr: string }[] }[]
}

/** What the panels of the dashboard ask, as Grafana asks it for all instances. */
export async function dashboardExpressions(): Promise<readonly string[]> {
  const text = await readFile('deploy/monitoring/grafana/dashboard.json', 'utf8')
  const { panels } = JSON.parse(text) as Dashboard
  return panels
    .flatMap(({ targets = [] }) => targets.map(({ expr }) => expr))
    .map((expr) => expr.replaceAll('$__rate_interval', '1m').replaceAll('$instance', '.*'))
}

/** What a rule with an expression of one line asks. */
export async function ruleExpression(alert: string): Promise<string> {
  const text = await readFile('deploy/monitoring/alerts.yml', 'utf8')
  const [, expression] = new RegExp(`- alert: ${alert}\\n *expr: (.+)\\n`).exec(text) ?? []
  if (expression === undefined) throw new Error(`no rule ${alert}`)
  return expression
}

/** The metrics that rules look at, but for those of `verify`, of backups, and of a database on its own disk. */
export async function ruleMetrics(): Promise<readonly string[]> {
  const text = await readFile('deploy/monitoring/alerts.yml', 'utf8')
  const named = [...text.matchAll(/\b(?:cloud_repository|nodejs|process)_[a-z0-9_]+/g)]
  const names = new Set(named.map(([name]) => name))
  return [...names].filter(
    (name) =>
      !/_(drift|verify_completion_timestamp_seconds|backup_\w+|disk_reserve_bytes)$/.test(name),
  )
}
