import { Icon } from './icon.tsx'

export interface SortFieldProps<Order extends string> {
  readonly label: string
  /** The orders by their names. */
  readonly orders: Readonly<Record<Order, string>>
  readonly order: Order
  readonly isDisabled?: boolean
  readonly onSort: (order: Order) => void
}

/** Chooses the order of a list. */
export function SortField<Order extends string>(props: SortFieldProps<Order>) {
  const { label, orders, order, isDisabled = false, onSort } = props
  return (
    <label class="sort">
      <span class="unseen">{label}</span>
      <Icon name="sort" />
      <select
        class="field"
        value={order}
        disabled={isDisabled}
        onChange={(event) => onSort(event.currentTarget.value as Order)}
      >
        {(Object.entries(orders) as [Order, string][]).map(([each, name]) => (
          <option key={each} value={each}>
            {name}
          </option>
        ))}
      </select>
    </label>
  )
}
