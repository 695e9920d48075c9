"""Files of models, and what must hold in them."""
