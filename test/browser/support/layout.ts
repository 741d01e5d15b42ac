import type { Page } from 'playwright-core';

/**
 * What is wrong with the layout of a page as it is now, one line a fault: it scrolls sideways, a control lies outside of
 * the window or is cut off, controls overlap, or the text of a field has no room. Where a part scrolls, what is
 * out of sight can be had by scrolling, and is no fault.
 */
export function layoutFaults(page: Page): Promise<readonly string[]> {
  return page.evaluate(() => {
    interface Box {
      readonly left: number;
      readonly top: number;
      readonly right: number;
      readonly bottom: number;
    }
    const faults: string[] = [];
    const slackPx = 1;
    const sideways = document.documentElement.scrollWidth - innerWidth;
    if (sideways > 0) faults.push(`the page is ${sideways} px wider than the window`);

    const scope = document.querySelector('dialog[open]') ?? document.body;
    const nameOf = (element: Element): string => {
      const text = element.getAttribute('aria-label') ?? element.textContent?.trim().slice(0, 40) ?? '';
      return `${element.tagName.toLowerCase()} "${text || element.className}"`;
    };
    /** What of it is seen, and whether something that does not scroll cuts it. */
    const seen = (element: Element): { readonly box: Box; readonly isCut: boolean } => {
      const whole = element.getBoundingClientRect();
      let box: Box = whole;
      let isCut = false;
      let isScrolled = false;
      for (let around = element.parentElement; around !== null; around = around.parentElement) {
        const { overflowX, overflowY, position } = getComputedStyle(around);
        if (overflowX !== 'visible' || overflowY !== 'visible') {
          const edge = around.getBoundingClientRect();
          const next = {
            left: Math.max(box.left, edge.left),
            top: Math.max(box.top, edge.top),
            right: Math.min(box.right, edge.right),
            bottom: Math.min(box.bottom, edge.bottom),
          };
          const isSmaller =
            next.right - next.left < box.right - box.left - slackPx ||
            next.bottom - next.top < box.bottom - box.top - slackPx;
          if (/auto|scroll/.test(overflowX + overflowY)) isScrolled = true;
          else if (isSmaller && !isScrolled) isCut = true;
          box = next;
        }
        if (position === 'fixed') break;
      }
      if (!isScrolled) {
        isCut ||= whole.left < -slackPx || whole.right > innerWidth + slackPx;
        isCut ||= whole.top < -slackPx || whole.bottom > innerHeight + slackPx;
      }
      return { box, isCut };
    };
    const isShown = (element: Element): boolean => {
      const { width, height } = element.getBoundingClientRect();
      return (
        width > 1 &&
        height > 1 &&
        element.checkVisibility({ visibilityProperty: true }) &&
        element.closest('.visually-hidden, .skip-link') === null
      );
    };
    const controls = [...scope.querySelectorAll('button, a[href], input, select, summary, h1, h2, [role=tab]')]
      .filter(isShown)
      .map((element) => ({ element, ...seen(element) }));
    for (const { element, isCut } of controls)
      if (isCut) faults.push(`${nameOf(element)} is cut off, or outside of the window`);
    const visible = controls.filter(({ box }) => box.right - box.left > slackPx && box.bottom - box.top > slackPx);
    for (const [at, one] of visible.entries()) {
      for (const other of visible.slice(at + 1)) {
        if (one.element.contains(other.element) || other.element.contains(one.element)) continue;
        const across = Math.min(one.box.right, other.box.right) - Math.max(one.box.left, other.box.left);
        const down = Math.min(one.box.bottom, other.box.bottom) - Math.max(one.box.top, other.box.top);
        if (across > slackPx && down > slackPx)
          faults.push(`${nameOf(one.element)} and ${nameOf(other.element)} overlap`);
      }
    }

    const canvas = document.createElement('canvas').getContext('2d');
    /** The arrow of a choice, the cross of a search. */
    const signPx = 20;
    for (const field of scope.querySelectorAll<HTMLInputElement | HTMLSelectElement>('input[placeholder], select')) {
      if (!isShown(field) || canvas === null) continue;
      const { font, paddingLeft, paddingRight } = getComputedStyle(field);
      canvas.font = font;
      const isSelect = field instanceof HTMLSelectElement;
      const text = isSelect ? (field.selectedOptions[0]?.text ?? '') : field.placeholder;
      const sign = isSelect || field.type === 'search' ? signPx : 0;
      const room = field.clientWidth - Number.parseFloat(paddingLeft) - Number.parseFloat(paddingRight) - sign;
      const missing = Math.ceil(canvas.measureText(text).width - room);
      if (missing > slackPx) faults.push(`"${text}" needs ${missing} px more in ${nameOf(field)}`);
    }
    return faults;
  });
}
