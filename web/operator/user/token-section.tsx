import { TokenList } from '../../shared/tokens/token-list.tsx'
import type { SectionProps } from './section-props.ts'

export function TokenSection({ page, path, record, onChange }: SectionProps) {
  return (
    <TokenList
      api={page.api}
      path={`${path}/access-tokens`}
      tokens={record.tokens}
      onChange={onChange}
    />
  )
}
