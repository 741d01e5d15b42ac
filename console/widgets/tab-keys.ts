/** For the keydown of a tablist: arrows, Home and End choose another of its tabs, as a click does. */
export function moveBetweenTabs(event: KeyboardEvent): void {
  const list = event.currentTarget;
  if (!(list instanceof HTMLElement)) return;
  const tabs = [...list.querySelectorAll<HTMLElement>('[role=tab]')];
  const at = event.target instanceof HTMLElement ? tabs.indexOf(event.target) : -1;
  const next = nextTab(event.key, at, tabs.length);
  if (at < 0 || next === undefined) return;
  event.preventDefault();
  tabs[next]?.click();
  tabs[next]?.focus();
}

function nextTab(key: string, at: number, count: number): number | undefined {
  switch (key) {
    case 'ArrowRight':
      return (at + 1) % count;
    case 'ArrowLeft':
      return (at - 1 + count) % count;
    case 'Home':
      return 0;
    case 'End':
      return count - 1;
    default:
      return undefined;
  }
}
