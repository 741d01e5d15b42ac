/**
 * Copies a text by the copy event: a page on plain http under a name has no `navigator.clipboard`. Only while the browser handles
 * a click or a key. Whether it worked.
 */
export function copyText(text: string): boolean {
  // Some browsers copy only where something is selected; a modal dialog leaves no other place that can be.
  const host = document.activeElement?.closest('dialog') ?? document.body;
  const area = document.createElement('textarea');
  area.className = 'visually-hidden';
  area.setAttribute('aria-hidden', 'true');
  area.value = ' ';
  const focused = document.activeElement;
  host.append(area);
  area.select();
  let isCopied = false;
  const onCopy = (event: ClipboardEvent): void => {
    event.clipboardData?.setData('text/plain', text);
    event.preventDefault();
    event.stopImmediatePropagation();
    isCopied = true;
  };
  document.addEventListener('copy', onCopy, { capture: true });
  document.execCommand('copy');
  document.removeEventListener('copy', onCopy, { capture: true });
  area.remove();
  if (focused instanceof HTMLElement) focused.focus();
  return isCopied;
}
