// Shows the chosen version at once. By keyboard, where each arrow chooses, Enter or the button shows it.
for (const form of document.querySelectorAll('form.picker')) {
  const select = form.querySelector('select');
  let isByKeyboard = false;
  form.classList.add('live');
  select.addEventListener('keydown', (event) => {
    isByKeyboard = true;
    if (event.key === 'Enter') form.requestSubmit();
  });
  select.addEventListener('pointerdown', () => {
    isByKeyboard = false;
  });
  select.addEventListener('change', () => {
    if (!isByKeyboard) form.requestSubmit();
  });
}
