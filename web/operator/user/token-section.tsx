import { byName } from '../../shared/devices/device.ts'
import { readPublicUrl } from '../../shared/public-url.ts'
import { TokenList } from '../../shared/tokens/token-list.tsx'
import type { SectionProps } from './section-props.ts'

export function TokenSection({ page, user, record, onChange }: SectionProps) {
  return (
    <TokenList
      tokens={user.tokens}
      isFixed={!page.may('support')}
      entries={record.tokens}
      devices={byName(record.account.devices)}
      address={readPublicUrl()}
      onChange={onChange}
    />
  )
}
