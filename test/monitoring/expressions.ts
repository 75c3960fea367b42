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
