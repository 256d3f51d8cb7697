import type { ButtonHTMLAttributes } from 'react'

/** A button whose spoken name begins with what stands on it and goes on with what it is about. */
export function ActionButton({
  name,
  children,
  className = 'btn',
  onClick,
  ...rest
}: { readonly name: string; readonly children: string } & ButtonHTMLAttributes<HTMLButtonElement>) {
  return (
    <button
      aria-label={`${children}: ${name}`}
      className={className}
      // The second click of a double click was meant for the button that was here before.
      onClick={onClick === undefined ? undefined : (event) => (event.detail > 1 ? undefined : onClick(event))}
      type="button"
      {...rest}
    >
      {children}
    </button>
  )
}
